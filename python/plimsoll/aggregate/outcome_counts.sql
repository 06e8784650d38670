-- How the requests of a trial ended, and how many rows cannot be: their instants run backwards.
SELECT
    outcome::VARCHAR AS outcome,
    errno::INTEGER AS errno,
    count(*) AS requests,
    count(*) FILTER (in_hold(coalesce(done_ns, due_ns, sent_ns))) AS held,
    count(sent_ns) AS sent,
    count(*) FILTER (
        sent_ns < due_ns
        OR first_byte_ns < sent_ns
        OR done_ns < greatest(due_ns, sent_ns, first_byte_ns)
        OR CASE WHEN sent_ns IS NULL OR done_ns IS NULL OR first_byte_ns IS NULL
            THEN is_completed(outcome)
                AND (sent_ns IS NULL OR done_ns IS NULL OR first_bytes_said OR due_ns IS NOT NULL)
        END
    ) AS impossible
FROM requests, (SELECT count(first_byte_ns) > 0 AS first_bytes_said FROM requests)
GROUP BY outcome, errno
ORDER BY requests DESC, outcome, errno
