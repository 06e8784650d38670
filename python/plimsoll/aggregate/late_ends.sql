-- Complete responses of the holds whose first byte is known; those of them that took at least $from_ns
-- and less than $until_ns from it to their end; those that took another time, from half of the first
-- to before twice the second. Connections of the whole load that carried a complete response, and
-- those of them whose first one took at least half of $from_ns.
WITH answered AS (
    SELECT host, worker, connection, done_ns, greatest(done_ns - first_byte_ns, 0) AS took_ns,
        in_hold(done_ns) AS is_held,
        took_ns >= $from_ns::BIGINT AND took_ns < $until_ns::BIGINT AS is_late
    FROM requests
    WHERE is_completed(outcome) AND first_byte_ns IS NOT NULL AND done_ns IS NOT NULL
),
first AS (
    SELECT arg_min(took_ns, (done_ns, took_ns)) AS took_ns
    FROM answered
    WHERE connection IS NOT NULL
    GROUP BY host, worker, connection
)
SELECT
    count(*) FILTER (is_held),
    count(*) FILTER (is_held AND is_late),
    count(*) FILTER (
        is_held AND NOT is_late AND took_ns >= $from_ns::BIGINT // 2 AND took_ns < 2 * $until_ns::BIGINT
    ),
    (SELECT count(*) FROM first),
    (SELECT count(*) FILTER (took_ns >= $from_ns::BIGINT // 2) FROM first)
FROM answered
