-- Times of the requests that ended in each second from $from_ns to $until_ns, right ones and failed
-- ones apart. Percentiles lie between two values where need be, as `percentile_cont` has them.
WITH ended AS (
    SELECT
        done_ns // 1000000000 AS second,
        is_right(outcome) AS is_right,
        (done_ns - sent_ns) / 1e6 AS elapsed_ms,
        (first_byte_ns - sent_ns) / 1e6 AS latency_ms
    FROM requests
    WHERE done_ns >= $from_ns::BIGINT AND done_ns < $until_ns::BIGINT
        AND (is_right(outcome) OR is_failed(outcome))
)
SELECT
    second::BIGINT AS second,
    is_right,
    avg(elapsed_ms) AS elapsed_mean_ms,
    avg(latency_ms) AS latency_mean_ms,
    quantile_cont(elapsed_ms, [0.25, 0.5, 0.75, 0.95]) AS elapsed_percentiles_ms
FROM ended
GROUP BY second, is_right
