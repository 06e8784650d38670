-- Each connection that carried complete responses of the holds: how many, and of those that took at
-- least so many nanoseconds when they were sent for and when they came.
SELECT
    count(*) AS responses,
    list(sent_ns) FILTER (done_ns - sent_ns >= $least_ns::BIGINT) AS sent_ns,
    list(done_ns) FILTER (done_ns - sent_ns >= $least_ns::BIGINT) AS done_ns
FROM requests
WHERE in_hold(done_ns) AND is_completed(outcome) AND sent_ns IS NOT NULL
    AND connection IS NOT NULL
GROUP BY host, worker, connection
