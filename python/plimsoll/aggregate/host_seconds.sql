-- Complete responses of each host in each second of the holds, and the median of their service times.
SELECT
    host::VARCHAR AS host,
    done_ns // 1000000000 AS second,
    count(*) AS responses,
    median(done_ns - sent_ns) AS service_p50_ns
FROM requests
WHERE is_completed(outcome) AND in_hold(done_ns)
GROUP BY ALL
ORDER BY second, host
