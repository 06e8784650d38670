-- Times without a response between $from_ns and $until_ns that last $least_ns or longer: how many, and
-- how long together.
SELECT count(*), coalesce(sum(length_ns), 0)::BIGINT
FROM (
    SELECT done_ns - lag(done_ns) OVER (ORDER BY done_ns) AS length_ns
    FROM requests
    WHERE done_ns >= $from_ns::BIGINT AND done_ns < $until_ns::BIGINT
)
WHERE length_ns >= $least_ns::BIGINT
