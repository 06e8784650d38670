-- Mean over the complete responses of the holds of the shortest service time of their group, in the
-- whole load. `kinds` has the group of each of the trial's requests, which the rows know by index.
SELECT sum(held * shortest_ns) / nullif(sum(held), 0)
FROM (
    SELECT
        ($kinds::INTEGER[])[request + 1] AS part,
        count(*) FILTER (in_hold(done_ns)) AS held,
        min(done_ns - sent_ns) AS shortest_ns
    FROM requests
    WHERE is_completed(outcome)
    GROUP BY part
)
