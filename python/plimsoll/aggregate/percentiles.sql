-- Exact percentiles of `measured.value` of each `measured.part`, in bounded memory: the smallest
-- value that at least the share q of the part's rows does not exceed.
--
-- Counting in two passes instead of sorting: rows are counted by buckets of 65,536 ns, and only in
-- the bucket that holds the wanted rank are they counted value by value. Memory depends on the
-- range of values, not on the number of rows. A quantile with fewer than 10 / (1 - q) rows is left
-- out.
WITH coarse AS MATERIALIZED (
    SELECT part, value // 65536 AS bucket, count(*) AS n
    FROM measured
    WHERE value IS NOT NULL
    GROUP BY part, bucket
),
buckets AS (
    SELECT part, bucket, n, sum(n) OVER (PARTITION BY part ORDER BY bucket) AS upto FROM coarse
),
ranks AS (
    SELECT part, q, greatest(1, ceil(round(q * total, 6))) AS rank
    FROM (SELECT unnest($quantiles::DOUBLE[]) AS q),
        (SELECT part, sum(n) AS total FROM coarse GROUP BY part)
    WHERE round(total * (1 - q), 6) >= 10
),
wanted AS MATERIALIZED (
    SELECT part, q, bucket, rank - (upto - n) AS rank
    FROM ranks JOIN buckets USING (part)
    WHERE rank > upto - n AND rank <= upto
),
fine AS (
    SELECT part, bucket, value, count(*) AS n
    FROM (SELECT part, value // 65536 AS bucket, value FROM measured)
    SEMI JOIN wanted USING (part, bucket)
    GROUP BY part, bucket, value
),
ranked AS (
    SELECT part, bucket, value, n,
        sum(n) OVER (PARTITION BY part, bucket ORDER BY value) AS upto
    FROM fine
)
SELECT part, q, value
FROM wanted JOIN ranked USING (part, bucket)
WHERE rank > upto - n AND rank <= upto
