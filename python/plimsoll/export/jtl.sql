-- Samples of JMeter that ended from `from_ns` to `until_ns`, in that order. A request that was never
-- sent stands where it was due. Connecting lies before the instant at which a request was sent: no
-- part of `elapsed`.
WITH ended AS (
    SELECT * FROM requests
    WHERE done_ns >= getvariable('from_ns') AND done_ns < getvariable('until_ns')
    UNION ALL
    SELECT * FROM requests
    WHERE done_ns IS NULL
        AND coalesce(due_ns, sent_ns) >= getvariable('from_ns')
        AND coalesce(due_ns, sent_ns) < getvariable('until_ns')
),
samples AS (
    SELECT
        coalesce(sent_ns, due_ns) // 1000000 AS start_ms,
        coalesce(done_ns, sent_ns, due_ns) // 1000000 AS end_ms,
        first_byte_ns // 1000000 AS first_byte_ms,
        coalesce(sent_ns, due_ns) // 1000000000 AS second,
        sent_ns IS NOT NULL AS sent,
        received_bytes,
        sent_bytes,
        request,
        connection,
        worker,
        host,
        status,
        outcome
    FROM ended
)
SELECT
    getvariable('zero_ms') + start_ms AS "timeStamp",
    greatest(end_ms - start_ms, 0) AS "elapsed",
    coalesce(label, request::VARCHAR) AS "label",
    coalesce(code, samples.status::VARCHAR) AS "responseCode",
    coalesce(message, phrase) AS "responseMessage",
    host || ' ' || (worker + 1) || '-' || coalesce(connection + 1, 0) AS "threadName",
    CASE WHEN code IS NULL THEN 'text' END AS "dataType",
    success AS "success",
    failure AS "failureMessage",
    coalesce(received_bytes, 0) AS "bytes",
    CASE WHEN sent THEN coalesce(sent_bytes, request_bytes, 0) ELSE 0 END AS "sentBytes",
    coalesce(round(threads), 0)::BIGINT AS "grpThreads",
    coalesce(round(threads), 0)::BIGINT AS "allThreads",
    NULL AS "URL",
    coalesce(first_byte_ms - start_ms, 0) AS "Latency",
    0 AS "IdleTime",
    0 AS "Connect"
FROM samples
JOIN endings USING (outcome)
LEFT JOIN kinds USING (request)
LEFT JOIN phrases ON phrases.status = samples.status
LEFT JOIN levels ON levels.second = samples.second
ORDER BY end_ms, start_ms, worker, connection
