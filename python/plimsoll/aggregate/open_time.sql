-- Time that connections were open within the holds, summed over connections, in nanoseconds.
WITH holds AS (
    SELECT unnest($starts) AS start_ns, unnest($ends) AS end_ns
)
SELECT coalesce(sum(
    greatest(0, least(coalesce(closed_ns, end_ns), end_ns) - greatest(connected_ns, start_ns))
), 0)::DOUBLE AS open_ns
FROM connections, holds
WHERE connected_ns IS NOT NULL
