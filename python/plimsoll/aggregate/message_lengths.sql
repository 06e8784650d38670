-- Lengths of the responses of the holds with their heads, by request type and status code: how many
-- there are, which is the usual one, and what is shorter by more than $apart_bytes.
WITH lengths AS (
    SELECT request, status, received_bytes, count(*) AS responses
    FROM requests
    WHERE is_completed(outcome) AND in_hold(done_ns) AND received_bytes IS NOT NULL
    GROUP BY request, status, received_bytes
),
usual AS (
    SELECT request, status, first(received_bytes ORDER BY responses DESC, received_bytes) AS bytes
    FROM lengths
    GROUP BY request, status
),
compared AS (
    SELECT lengths.*, bytes, received_bytes + $apart_bytes < bytes AS is_short
    FROM lengths JOIN usual USING (request, status)
)
SELECT
    request,
    status,
    bytes,
    sum(responses) FILTER (received_bytes = bytes)::BIGINT AS usual,
    coalesce(sum(responses) FILTER (is_short), 0)::BIGINT AS others,
    min(received_bytes) FILTER (is_short) AS others_shortest_bytes,
    max(received_bytes) FILTER (is_short) AS others_longest_bytes
FROM compared
GROUP BY request, status, bytes
ORDER BY request, status
