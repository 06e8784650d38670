-- For each row of `stretches`: the time that requests were in flight in it and the time that they
-- waited to be sent, both in nanoseconds, and how many of those sent ended in it. In flight is from
-- sent to done, waiting from due to sent; what did not end was in flight, or waited, until the end.
SELECT
    coalesce(sum(greatest(
        least(coalesce(done_ns, until_ns), until_ns) - greatest(sent_ns, from_ns), 0
    )) FILTER (sent_ns IS NOT NULL), 0)::DOUBLE AS in_flight_ns,
    coalesce(sum(greatest(
        least(coalesce(sent_ns, done_ns, until_ns), until_ns) - greatest(due_ns, from_ns), 0
    )) FILTER (due_ns IS NOT NULL), 0)::DOUBLE AS waiting_ns,
    count(*) FILTER (sent_ns IS NOT NULL AND done_ns >= from_ns AND done_ns < until_ns) AS ended
FROM stretches
LEFT JOIN requests
    ON coalesce(due_ns, sent_ns) < until_ns AND (done_ns IS NULL OR done_ns > from_ns)
GROUP BY number, from_ns, until_ns
ORDER BY number
