-- Requests due in each of $parts equal parts of the time from $from_ns to $until_ns, whatever became
-- of them.
SELECT
    least(
        (due_ns - $from_ns::BIGINT) * $parts::BIGINT // ($until_ns::BIGINT - $from_ns::BIGINT),
        $parts::BIGINT - 1
    )::INTEGER AS part,
    count(*) AS arrived
FROM requests
WHERE due_ns >= $from_ns::BIGINT AND due_ns < $until_ns::BIGINT
GROUP BY part
