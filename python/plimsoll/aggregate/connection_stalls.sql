-- Stalls of single connections in the holds: when a complete response was sent for and came, where
-- it took at least $least_ns and $times times the median of its request type. The longest first, no
-- more than $most of them.
WITH answered AS (
    SELECT request, sent_ns, done_ns, done_ns - sent_ns AS time_ns
    FROM requests
    WHERE in_hold(done_ns) AND is_completed(outcome) AND sent_ns IS NOT NULL
),
usual AS (SELECT request, median(time_ns) AS time_ns FROM answered GROUP BY request)
SELECT sent_ns, done_ns
FROM answered JOIN usual USING (request)
WHERE answered.time_ns >= greatest($least_ns::BIGINT, $times::DOUBLE * usual.time_ns)
ORDER BY answered.time_ns DESC
LIMIT $most::BIGINT
