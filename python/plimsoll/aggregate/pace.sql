-- Complete responses in each of $parts equal parts of the time from $from_ns to $until_ns.
SELECT
    least((done_ns - $from_ns) * $parts // ($until_ns - $from_ns), $parts - 1)::INTEGER AS part,
    count(*) AS completed
FROM requests
WHERE done_ns >= $from_ns AND done_ns < $until_ns AND is_completed(outcome)
GROUP BY part
