-- For each row of `stretches`: the time that requests were in flight in it and the time that they
-- waited to be sent, both in nanoseconds, and how many of those sent ended in it. In flight is from
-- sent to done, waiting from due to sent; what did not end was in flight, or waited, until the end.
--
-- Of rows outside of the time from $from_ns to $until_ns, which holds all stretches, whole row groups
-- are left out: that takes conditions on single columns.
WITH near AS (
    FROM requests WHERE sent_ns < $until_ns::BIGINT AND (done_ns IS NULL OR done_ns >= $from_ns::BIGINT)
    UNION ALL
    FROM requests
    WHERE due_ns < $until_ns::BIGINT AND (sent_ns IS NULL OR sent_ns >= $until_ns::BIGINT)
        AND (done_ns IS NULL OR done_ns >= $from_ns::BIGINT)
)
SELECT
    coalesce(sum(greatest(
        least(coalesce(done_ns, until_ns), until_ns) - greatest(sent_ns, from_ns), 0
    )) FILTER (sent_ns IS NOT NULL), 0)::DOUBLE AS in_flight_ns,
    coalesce(sum(greatest(
        least(coalesce(sent_ns, done_ns, until_ns), until_ns) - greatest(due_ns, from_ns), 0
    )) FILTER (due_ns IS NOT NULL), 0)::DOUBLE AS waiting_ns,
    count(*) FILTER (sent_ns IS NOT NULL AND done_ns >= from_ns AND done_ns < until_ns) AS ended
FROM stretches
LEFT JOIN near
    ON coalesce(due_ns, sent_ns) < until_ns AND (done_ns IS NULL OR done_ns >= from_ns)
GROUP BY number, from_ns, until_ns
ORDER BY number
