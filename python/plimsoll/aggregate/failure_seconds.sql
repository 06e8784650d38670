-- Failures by second and kind, those of the holds, and their first and last instant.
WITH failed AS (
    SELECT
        coalesce(done_ns, due_ns, sent_ns) AS at_ns,
        outcome::VARCHAR AS outcome,
        errno::INTEGER AS errno,
        CASE
            WHEN outcome IN ('wrong_status', 'upgrade_refused', 'close_received') THEN status
        END::INTEGER AS status
    FROM requests
    WHERE is_failed(outcome)
)
SELECT
    (at_ns // 1000000000)::INTEGER AS second,
    outcome,
    errno,
    status,
    count(*) AS count,
    count(*) FILTER (in_hold(at_ns)) AS held,
    min(at_ns) AS first_ns,
    max(at_ns) AS last_ns
FROM failed
GROUP BY ALL
ORDER BY second, outcome, errno, status
