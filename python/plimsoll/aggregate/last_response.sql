-- When the last complete response came, and how many attempts to connect were refused after it.
WITH last_one AS (
    SELECT max(done_ns) FILTER (is_completed(outcome)) AS at_ns FROM requests
)
SELECT any_value(at_ns), count(*)
FROM requests, last_one
WHERE outcome = 'connect_refused' AND coalesce(done_ns, sent_ns, due_ns) >= at_ns
