-- Lengths of the responses of the holds by request type and status code: how many there are, which is
-- the usual one, and what deviates from it. Lengths are those of bodies, of which each other one
-- deviates; $with_heads they are those of whole responses, which deviate if they are shorter by more
-- than $apart_bytes.
WITH lengths AS (
    SELECT request, status, count(*) AS responses,
        CASE WHEN $with_heads::BOOLEAN THEN received_bytes ELSE body_bytes END AS bytes
    FROM requests
    WHERE is_completed(outcome) AND in_hold(done_ns) AND bytes IS NOT NULL
    GROUP BY request, status, bytes
),
usual AS (
    SELECT request, status, first(bytes ORDER BY responses DESC, bytes) AS usual_bytes
    FROM lengths
    GROUP BY request, status
),
compared AS (
    SELECT lengths.*, usual_bytes,
        CASE WHEN $with_heads::BOOLEAN THEN bytes + $apart_bytes::BIGINT < usual_bytes
            ELSE bytes <> usual_bytes END AS deviates
    FROM lengths JOIN usual USING (request, status)
)
SELECT
    request,
    status,
    usual_bytes,
    sum(responses) FILTER (bytes = usual_bytes)::BIGINT AS usual,
    coalesce(sum(responses) FILTER (deviates), 0)::BIGINT AS others,
    min(bytes) FILTER (deviates) AS others_shortest_bytes,
    max(bytes) FILTER (deviates) AS others_longest_bytes
FROM compared
GROUP BY request, status, usual_bytes
ORDER BY request, status
