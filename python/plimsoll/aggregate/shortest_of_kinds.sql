-- Mean over the complete responses of the holds of the shortest service time of their kind.
-- `kinds` has the kind of each of the trial's requests, which the rows know by their index.
SELECT sum(completed * shortest_ns) / sum(completed)
FROM (
    SELECT
        ($kinds::INTEGER[])[request + 1] AS kind,
        count(*) AS completed,
        min(done_ns - sent_ns) AS shortest_ns
    FROM requests
    WHERE is_completed(outcome) AND in_hold(done_ns)
    GROUP BY kind
)
