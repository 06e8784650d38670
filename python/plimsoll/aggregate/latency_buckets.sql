-- Complete responses of the whole trial by the time of their end and by bucket of latency: every row
-- counts. `held` are those in the measurement window.
SELECT
    (done_ns // 1000000000 // $seconds::BIGINT * $seconds::BIGINT)::INTEGER AS second,
    floor($per_decade::BIGINT * log10(greatest(latency, 1)))::SMALLINT AS bucket,
    count(*)::BIGINT AS completed,
    count(*) FILTER (in_hold(done_ns))::BIGINT AS held
FROM (
    SELECT done_ns,
        CASE WHEN $is_response_time::BOOLEAN THEN done_ns - due_ns ELSE done_ns - sent_ns END AS latency
    FROM requests
    WHERE is_completed(outcome)
)
WHERE latency IS NOT NULL
GROUP BY second, bucket
ORDER BY second, bucket
