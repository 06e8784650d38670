-- How many different requests there are, how many times each at least is there, how many rows repeat
-- another, and how many pairs of rows of one instant and of the next one looked at say the same but
-- for the instant: so many repeat each other by chance where a log has coarse times. A row is the
-- same as another where a log says the same of it. A share of the instants is looked at, with all of
-- their rows: one of $every.
WITH same AS (
    SELECT sent_ns, count(*) AS times,
        hash(done_ns - sent_ns, first_byte_ns - sent_ns, request, status, received_bytes, body_bytes)
            AS content
    FROM requests
    WHERE sent_ns IS NOT NULL AND hash(sent_ns) % $every::UBIGINT = 0
    GROUP BY sent_ns, done_ns, first_byte_ns, request, status, received_bytes, body_bytes
),
instants AS (
    SELECT sent_ns, lead(sent_ns) OVER (ORDER BY sent_ns) AS next_ns
    FROM (SELECT DISTINCT sent_ns FROM same)
),
chance AS (
    SELECT coalesce(sum(one.times * other.times), 0) AS pairs
    FROM same AS one JOIN instants USING (sent_ns)
    JOIN same AS other ON other.sent_ns = instants.next_ns AND other.content = one.content
),
least AS (SELECT min(times) AS times FROM same)
SELECT
    count(*),
    CASE WHEN bool_and(same.times % least.times = 0) THEN any_value(least.times) ELSE 1 END,
    coalesce(sum(same.times - 1), 0),
    any_value(chance.pairs)
FROM same, least, chance
