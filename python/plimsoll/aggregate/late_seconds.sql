-- Seconds from the due time to the sending of each request with a complete response in the holds that
-- was sent $least_ns or more late.
SELECT DISTINCT unnest(range(due_ns // 1000000000, sent_ns // 1000000000 + 1)) AS second
FROM requests
WHERE is_completed(outcome) AND in_hold(done_ns) AND sent_ns - due_ns >= $least_ns::BIGINT
ORDER BY second
