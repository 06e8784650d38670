-- Cells of the histograms of each second and kind: the time from $begin_ns to the end of every
-- complete response. `histogram.py` explains the index; `kinds` has the kind of each request.
WITH answers AS (
    SELECT
        done_ns // 1000000000 AS second,
        coalesce(($kinds::INTEGER[])[request + 1], request) AS kind,
        least(greatest(done_ns - $begin_ns::BIGINT, 0), $highest::BIGINT) AS value
    FROM requests
    WHERE done_ns IS NOT NULL AND $begin_ns::BIGINT IS NOT NULL AND is_completed(outcome)
),
cells AS (
    SELECT
        second,
        kind,
        value,
        greatest(floor(log2(greatest(value, 1)))::INTEGER - 10, 0) AS shift
    FROM answers
)
SELECT
    second::BIGINT AS second,
    kind::INTEGER AS kind,
    (shift * 1024 + (value >> shift))::INTEGER AS cell,
    count(*)::BIGINT AS requests,
    max(value)::BIGINT AS longest_ns
FROM cells
GROUP BY second, kind, cell
ORDER BY second, kind, cell
