-- Requests of each kind: sent within the holds, sent, with a response, and bytes of the responses.
SELECT
    request,
    count(*) FILTER (in_hold(sent_ns)) AS held,
    count(*) AS sent,
    count(first_byte_ns) AS responded,
    coalesce(sum(received_bytes), 0)::BIGINT AS received_bytes
FROM requests
WHERE sent_ns IS NOT NULL
GROUP BY request
ORDER BY request
