-- Requests that had been in flight for at least $least_ns when the load ended, at $end_ns, and how
-- long the last and the first of them had been.
SELECT count(*), coalesce(min(waited_ns), 0), coalesce(max(waited_ns), 0)
FROM (SELECT greatest($end_ns::BIGINT - sent_ns, 0) AS waited_ns FROM requests
    WHERE done_ns IS NULL AND sent_ns IS NOT NULL)
WHERE waited_ns >= $least_ns::BIGINT
