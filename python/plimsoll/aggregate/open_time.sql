-- Time that connections were open within the holds, summed over connections, in nanoseconds. One
-- that opened within $opening_ns of the beginning of a hold was open in all of it: the load begins
-- there where nothing comes before it, and no connection is open at its first instant.
WITH holds AS (
    SELECT unnest($starts::BIGINT[]) AS start_ns, unnest($ends::BIGINT[]) AS end_ns
)
SELECT coalesce(sum(
    greatest(0, least(coalesce(closed_ns, end_ns), end_ns) - CASE
        WHEN connected_ns < start_ns + $opening_ns::BIGINT THEN start_ns ELSE connected_ns
    END)
), 0)::DOUBLE AS open_ns
FROM connections, holds
WHERE connected_ns IS NOT NULL
