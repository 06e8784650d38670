-- Time that requests were in flight between $from_ns and $until_ns, in nanoseconds, and how many
-- ended between them. In flight is from sent to done; what did not end was in flight until the end.
SELECT
    coalesce(sum(
        least(coalesce(done_ns, $until_ns), $until_ns) - greatest(sent_ns, $from_ns)
    ), 0)::DOUBLE AS in_flight_ns,
    count(*) FILTER (done_ns >= $from_ns AND done_ns < $until_ns) AS ended
FROM requests
WHERE sent_ns < $until_ns AND (done_ns IS NULL OR done_ns > $from_ns)
