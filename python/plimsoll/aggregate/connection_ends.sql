-- How opened connections ended, and how many responses each of those ended in the holds had carried.
SELECT
    outcome::VARCHAR AS outcome,
    count(*) AS connections,
    count(*) FILTER (responses = 0) AS without_response,
    count(*) FILTER (in_hold(closed_ns)) AS held,
    min(responses) FILTER (in_hold(closed_ns)) AS least_responses,
    max(responses) FILTER (in_hold(closed_ns)) AS most_responses
FROM connections
WHERE connected_ns IS NOT NULL AND outcome IS NOT NULL
GROUP BY outcome
ORDER BY connections DESC, outcome
