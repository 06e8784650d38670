-- Lengths of the bodies of the holds by request type and status code: how many there are, which is
-- the usual one, and what deviates from it.
WITH lengths AS (
    SELECT request, status, body_bytes, count(*) AS responses
    FROM requests
    WHERE is_completed(outcome) AND in_hold(done_ns) AND body_bytes IS NOT NULL
    GROUP BY request, status, body_bytes
),
usual AS (
    SELECT request, status, first(body_bytes ORDER BY responses DESC, body_bytes) AS usual_bytes
    FROM lengths
    GROUP BY request, status
)
SELECT
    request,
    status,
    usual_bytes,
    sum(responses) FILTER (body_bytes = usual_bytes)::BIGINT AS usual,
    coalesce(sum(responses) FILTER (body_bytes <> usual_bytes), 0)::BIGINT AS others,
    min(body_bytes) FILTER (body_bytes <> usual_bytes) AS others_shortest_bytes,
    max(body_bytes) FILTER (body_bytes <> usual_bytes) AS others_longest_bytes
FROM lengths JOIN usual USING (request, status)
GROUP BY request, status, usual_bytes
ORDER BY request, status
