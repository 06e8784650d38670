-- What became of the attempts to connect of a whole trial; one row. Connections that open and
-- close at the same instant are open together. What some connection does not say is null.
WITH changes AS (
    SELECT connected_ns AS at_ns, 1 AS change FROM connections WHERE connected_ns IS NOT NULL
    UNION ALL
    SELECT closed_ns, -1 FROM connections
    WHERE connected_ns IS NOT NULL AND closed_ns IS NOT NULL
),
levels AS (
    SELECT sum(change) OVER (ORDER BY at_ns, change DESC ROWS UNBOUNDED PRECEDING) AS level
    FROM changes
),
attempts AS (
    SELECT
        connected_ns IS NOT NULL AS opened,
        responses,
        outcome,
        connected_ns - due_ns AS connect
    FROM connections
)
SELECT
    count(*) FILTER (opened) AS connections_opened,
    CASE WHEN count(*) FILTER (opened AND responses IS NULL) = 0
        THEN count(*) FILTER (opened AND responses > 0)
    END AS connections_with_response,
    count(*) FILTER (NOT opened AND outcome NOT IN ('unfinished', 'still_open', 'not_sent'))
        AS connections_refused,
    CASE WHEN count(*) FILTER (opened AND outcome IS NULL) = 0
        THEN count(*) FILTER (
            opened
            AND outcome NOT IN ('ok', 'closed_as_announced', 'closed_by_driver', 'still_open')
        )
    END AS connections_lost,
    CASE WHEN count(*) FILTER (opened AND outcome IS NULL) = 0
        THEN (SELECT coalesce(max(level), 0)::BIGINT FROM levels)
    END AS connections_peak_open,
    avg(connect) AS connect_mean_ns,
    min(connect) AS connect_min_ns,
    max(connect) AS connect_max_ns
FROM attempts
