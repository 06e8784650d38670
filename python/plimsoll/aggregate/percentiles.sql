-- Exact percentiles of `measured.value` in bounded memory: the smallest value that at least the
-- share q of the rows does not exceed.
--
-- Counting in two passes instead of sorting: rows are counted by buckets of 65,536 ns, and only in
-- the bucket that holds the wanted rank are they counted value by value. Memory depends on the
-- range of values, not on the number of rows. A quantile with fewer than 10 / (1 - q) rows is left
-- out.
WITH coarse AS MATERIALIZED (
    SELECT value // 65536 AS bucket, count(*) AS n
    FROM measured
    WHERE value IS NOT NULL
    GROUP BY bucket
),
buckets AS (
    SELECT bucket, n, sum(n) OVER (ORDER BY bucket) AS upto FROM coarse
),
ranks AS (
    SELECT q, greatest(1, ceil(round(q * total, 6))) AS rank
    FROM (SELECT unnest($quantiles) AS q), (SELECT sum(n) AS total FROM coarse)
    WHERE round(total * (1 - q), 6) >= 10
),
wanted AS MATERIALIZED (
    SELECT q, bucket, rank - (upto - n) AS rank
    FROM ranks JOIN buckets ON rank > upto - n AND rank <= upto
),
fine AS (
    SELECT value // 65536 AS bucket, value, count(*) AS n
    FROM measured
    WHERE value // 65536 IN (SELECT bucket FROM wanted)
    GROUP BY bucket, value
),
ranked AS (
    SELECT bucket, value, n, sum(n) OVER (PARTITION BY bucket ORDER BY value) AS upto FROM fine
)
SELECT q, value
FROM wanted JOIN ranked USING (bucket)
WHERE rank > upto - n AND rank <= upto
