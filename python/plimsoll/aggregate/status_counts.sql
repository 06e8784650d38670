-- Complete responses of a trial by request type and status code, the most frequent first.
SELECT
    request,
    status,
    count(*) AS responses,
    count(*) FILTER (in_hold(done_ns)) AS held,
    count(*) FILTER (in_hold(done_ns) AND outcome = 'wrong_status') AS held_wrong
FROM requests
WHERE is_completed(outcome)
GROUP BY request, status
ORDER BY responses DESC, request, status
