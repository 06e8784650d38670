-- How many different requests there are, and how many times each at least is there; a row is the
-- same as another where a log says the same of it. A share of the instants is looked at, with all of
-- their rows: one of $every.
WITH same AS (
    SELECT count(*) AS times
    FROM requests
    WHERE sent_ns IS NOT NULL AND hash(sent_ns) % $every = 0
    GROUP BY sent_ns, done_ns, first_byte_ns, request, status, received_bytes, body_bytes
),
least AS (SELECT min(times) AS times FROM same)
SELECT
    count(*),
    CASE WHEN bool_and(same.times % least.times = 0) THEN any_value(least.times) ELSE 1 END
FROM same, least
