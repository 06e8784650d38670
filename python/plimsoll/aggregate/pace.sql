-- Complete responses in each of $parts equal parts of the time from $from_ns to $until_ns.
SELECT
    least(
        (done_ns - $from_ns::BIGINT) * $parts::BIGINT // ($until_ns::BIGINT - $from_ns::BIGINT),
        $parts::BIGINT - 1
    )::INTEGER AS part,
    count(*) AS completed
FROM requests
WHERE done_ns >= $from_ns::BIGINT AND done_ns < $until_ns::BIGINT AND is_completed(outcome)
GROUP BY part
