-- How long each request took that ended in the holds, however it ended, and how long those waited
-- that had not ended when the load did, at $end_ns.
SELECT (CASE
    WHEN done_ns IS NULL THEN greatest($end_ns::BIGINT - sent_ns, 0) ELSE done_ns - coalesce(sent_ns, due_ns)
END)::BIGINT AS time_ns
FROM requests
WHERE in_hold(done_ns) OR (done_ns IS NULL AND sent_ns IS NOT NULL)
