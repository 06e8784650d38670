-- For each row of `stretches`: how the requests ended that were due in it, or sent where it is not
-- known when they were due.
SELECT
    number,
    count(*) FILTER (is_completed(outcome)) AS completed,
    count(*) FILTER (is_failed(outcome)) AS failed,
    count(due_ns) > 0 AS has_due
FROM stretches JOIN requests
    ON coalesce(due_ns, sent_ns) >= from_ns AND coalesce(due_ns, sent_ns) < until_ns
GROUP BY number
