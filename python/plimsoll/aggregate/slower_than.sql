-- Requests that ended in the holds and took at least $least_ns, however they ended.
SELECT count(*)
FROM requests
WHERE in_hold(done_ns) AND done_ns - coalesce(sent_ns, due_ns) >= $least_ns::BIGINT
