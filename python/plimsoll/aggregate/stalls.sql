-- Stalls between $from_ns and $until_ns: stretches longer than $least_ns in which requests waited
-- and no response came; first instant and end of each.
--
-- Rows are put into buckets of $least_ns by the instant of their end. Of two responses that follow
-- each other at a longer distance, the first is the last of its bucket and the second the first of
-- its own, so no stall is lost, and memory depends on the length of the trial alone. A stall
-- begins when a request waits: in think time none does.
WITH ended AS (
    SELECT coalesce(due_ns, sent_ns) AS due_ns, coalesce(done_ns, $until_ns::BIGINT) AS at_ns,
        done_ns IS NOT NULL AND is_completed(outcome) AS answered
    FROM requests
    WHERE coalesce(due_ns, sent_ns) < $until_ns::BIGINT
),
buckets AS MATERIALIZED (
    SELECT
        at_ns // $least_ns::BIGINT AS bucket,
        min(at_ns) FILTER (answered) AS first_ns,
        max(at_ns) FILTER (answered) AS last_ns,
        min(due_ns) AS due_ns
    FROM ended
    GROUP BY bucket
),
waiting AS (
    SELECT bucket, first_ns, last_ns,
        min(due_ns) OVER (
            ORDER BY bucket ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING
        ) AS since_ns
    FROM buckets
),
gaps AS (
    SELECT CASE WHEN since_ns IS NOT NULL THEN greatest(last_ns, since_ns) END AS start_ns,
        coalesce(lead(first_ns) OVER (ORDER BY bucket), $until_ns::BIGINT) AS end_ns
    FROM waiting
    WHERE first_ns IS NOT NULL
    UNION ALL
    SELECT min(due_ns), coalesce(min(first_ns), $until_ns::BIGINT) FROM buckets
),
held AS (
    SELECT greatest(start_ns, $from_ns::BIGINT) AS start_ns, least(end_ns, $until_ns::BIGINT) AS end_ns
    FROM gaps
    WHERE start_ns IS NOT NULL
)
SELECT start_ns, end_ns FROM held WHERE end_ns - start_ns > $least_ns::BIGINT ORDER BY start_ns
