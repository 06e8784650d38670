-- At each of $at_ns: requests in flight, and those of them that had waited for longer than the median
-- of their request type by its place in $over_ns, or more.
WITH usual AS (
    SELECT request, median(done_ns - sent_ns) AS time_ns
    FROM requests
    WHERE in_hold(done_ns) AND is_completed(outcome) AND sent_ns IS NOT NULL
    GROUP BY request
),
instants AS (SELECT unnest($at_ns::BIGINT[]) AS at_ns, unnest($over_ns::BIGINT[]) AS over_ns),
flown AS (
    SELECT at_ns, at_ns - sent_ns - coalesce(time_ns, 0) >= over_ns AS is_overdue
    FROM instants
    JOIN requests ON sent_ns < at_ns AND (done_ns IS NULL OR done_ns >= at_ns)
    LEFT JOIN usual USING (request)
)
SELECT at_ns, count(flown.at_ns), count(*) FILTER (is_overdue)
FROM instants LEFT JOIN flown USING (at_ns)
GROUP BY at_ns
ORDER BY at_ns
