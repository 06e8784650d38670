-- Bodies of a trial by request type: expected with status and length right, compared, and wrong.
SELECT
    request,
    count(*) AS expected,
    count(*) FILTER (compared) AS compared,
    count(*) FILTER (compared AND outcome = 'wrong_body') AS wrong,
    count(*) FILTER (in_hold(done_ns)) AS held_expected,
    count(*) FILTER (compared AND in_hold(done_ns)) AS held_compared,
    count(*) FILTER (compared AND outcome = 'wrong_body' AND in_hold(done_ns)) AS held_wrong
FROM requests
WHERE is_completed(outcome) AND compared IS NOT NULL
GROUP BY request
ORDER BY request
