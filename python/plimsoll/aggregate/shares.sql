-- How evenly the complete responses of the holds fell on the connections that were open for at least
-- $least_ns of them; one row. `jain` is Jain's index of the responses per unit of time.
WITH holds AS (
    SELECT unnest($starts::BIGINT[]) AS start_ns, unnest($ends::BIGINT[]) AS end_ns
),
lives AS (
    SELECT host, worker, connection, sum(
        greatest(0, least(coalesce(closed_ns, end_ns), end_ns) - greatest(connected_ns, start_ns))
    ) AS open_ns
    FROM connections, holds
    WHERE connected_ns IS NOT NULL
    GROUP BY host, worker, connection
    HAVING open_ns >= $least_ns::BIGINT
),
answers AS (
    SELECT host, worker, connection, count(*) AS answers
    FROM requests
    WHERE is_completed(outcome) AND in_hold(done_ns)
    GROUP BY host, worker, connection
),
shares AS (
    SELECT coalesce(answers, 0) AS answers, coalesce(answers, 0) / open_ns AS share
    FROM lives LEFT JOIN answers USING (host, worker, connection)
)
SELECT
    count(*) AS connections,
    count(*) FILTER (answers = 0) AS starved,
    CASE WHEN sum(share) > 0 THEN sum(share) * sum(share) / (count(*) * sum(share * share)) END AS jain
FROM shares
