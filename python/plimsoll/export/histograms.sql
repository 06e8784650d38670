-- Cells of the histograms of each second and kind: the time from $begin_ns to the end of every
-- complete answer. `histogram.py` explains the index.
WITH answers AS (
    SELECT
        done_ns // 1000000000 AS second,
        request,
        least(greatest(done_ns - $begin_ns, 0), $highest) AS value
    FROM requests
    WHERE done_ns IS NOT NULL AND $begin_ns IS NOT NULL AND is_completed(outcome)
),
cells AS (
    SELECT
        second,
        request,
        value,
        greatest(floor(log2(greatest(value, 1)))::INTEGER - 10, 0) AS shift
    FROM answers
)
SELECT
    second::BIGINT AS second,
    request::INTEGER AS request,
    (shift * 1024 + (value >> shift))::INTEGER AS cell,
    count(*)::BIGINT AS requests,
    max(value)::BIGINT AS longest_ns
FROM cells
GROUP BY second, request, cell
ORDER BY second, request, cell
