-- Time that connections were open within the holds, summed over connections, in nanoseconds. One
-- that opened within $opening_ns of the beginning of a hold was open in all of it: the load begins
-- there where nothing comes before it, and no connection is open at its first instant. That is so of
-- as many as the hold requests; whatever opened after these replaces one that closed.
WITH holds AS (
    SELECT
        unnest($starts::BIGINT[]) AS start_ns,
        unnest($ends::BIGINT[]) AS end_ns,
        unnest($requested::BIGINT[]) AS requested
),
lives AS (
    SELECT
        start_ns,
        connected_ns,
        least(coalesce(closed_ns, end_ns), end_ns) AS until_ns,
        row_number() OVER (PARTITION BY start_ns ORDER BY connected_ns) <= requested AS is_first
    FROM connections, holds
    WHERE connected_ns < end_ns AND coalesce(closed_ns, end_ns) > start_ns
)
SELECT coalesce(sum(
    greatest(0, until_ns - CASE
        WHEN connected_ns < start_ns THEN start_ns
        WHEN is_first AND connected_ns < start_ns + $opening_ns::BIGINT THEN start_ns
        ELSE connected_ns
    END)
), 0)::DOUBLE AS open_ns
FROM lives
