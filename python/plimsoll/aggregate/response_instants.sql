-- Since when each complete response of the holds was due, and when it was complete.
SELECT coalesce(due_ns, sent_ns) AS since_ns, done_ns
FROM requests
WHERE in_hold(done_ns) AND is_completed(outcome)
