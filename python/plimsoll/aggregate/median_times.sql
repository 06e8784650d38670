-- Median service time of the complete responses in each of $parts equal parts of the time from
-- $from_ns to $until_ns, and how many there are.
SELECT
    least(
        (done_ns - $from_ns::BIGINT) * $parts::BIGINT // ($until_ns::BIGINT - $from_ns::BIGINT),
        $parts::BIGINT - 1
    )::INTEGER AS part,
    count(*) AS completed,
    quantile_disc(done_ns - sent_ns, 0.5) AS median_ns
FROM requests
WHERE done_ns >= $from_ns::BIGINT AND done_ns < $until_ns::BIGINT AND sent_ns IS NOT NULL
    AND is_completed(outcome)
GROUP BY part
ORDER BY part
