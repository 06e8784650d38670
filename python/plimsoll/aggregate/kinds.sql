-- Answers and failures of the holds by kind of request, and the longest response and service time.
-- `kinds` has the kind of each of the trial's requests, which the rows know by their index.
SELECT
    ($kinds::INTEGER[])[request + 1] AS kind,
    count(*) FILTER (is_completed(outcome)) AS completed,
    count(*) FILTER (is_failed(outcome)) AS failed,
    max(done_ns - due_ns) FILTER (is_completed(outcome)) AS longest_response_ns,
    max(done_ns - sent_ns) FILTER (is_completed(outcome)) AS longest_service_ns
FROM requests
WHERE in_hold(coalesce(done_ns, due_ns, sent_ns)) AND NOT is_unended(outcome)
GROUP BY kind
