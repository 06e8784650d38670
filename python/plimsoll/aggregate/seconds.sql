-- What happened in each second, without times: one row for each second in which a request was due
-- or ended. A request that failed without an end of its own (`not_sent`) counts where it was due, or
-- sent. What no request of a second has is null.
WITH dues AS (
    SELECT due_ns // 1000000000 AS second, count(*) AS due
    FROM requests
    WHERE due_ns IS NOT NULL
    GROUP BY second
),
ends AS (
    SELECT
        coalesce(done_ns, due_ns, sent_ns) // 1000000000 AS second,
        count(*) FILTER (is_completed(outcome)) AS completed,
        count(*) FILTER (is_right(outcome)) AS ok,
        count(*) FILTER (is_failed(outcome)) AS failed,
        sum(received_bytes) AS received_bytes
    FROM requests
    WHERE NOT is_unended(outcome)
    GROUP BY second
)
SELECT
    second::BIGINT AS second,
    coalesce(due, 0)::BIGINT AS due,
    coalesce(completed, 0)::BIGINT AS completed,
    coalesce(ok, 0)::BIGINT AS ok,
    coalesce(failed, 0)::BIGINT AS failed,
    CASE WHEN completed IS NULL THEN 0 ELSE received_bytes END::BIGINT AS received_bytes
FROM dues FULL JOIN ends USING (second)
ORDER BY second
