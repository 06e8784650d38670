-- Connections open at the end of each of the first $seconds seconds, and how many of these had got
-- a byte of an answer by then.
WITH answers AS (
    SELECT host::VARCHAR AS host, worker, connection, min(first_byte_ns) AS answered_ns
    FROM requests
    WHERE first_byte_ns IS NOT NULL AND connection IS NOT NULL
    GROUP BY ALL
),
lives AS (
    SELECT connected_ns, closed_ns, answered_ns
    FROM connections LEFT JOIN answers
        ON connections.host::VARCHAR = answers.host
        AND connections.worker = answers.worker
        AND connections.connection = answers.connection
    WHERE connected_ns IS NOT NULL
),
changes AS (
    SELECT connected_ns AS at_ns, 1 AS opened, 0 AS answered FROM lives
    UNION ALL
    SELECT closed_ns, -1, CASE WHEN answered_ns IS NULL THEN 0 ELSE -1 END
    FROM lives WHERE closed_ns IS NOT NULL
    UNION ALL
    SELECT answered_ns, 0, 1 FROM lives WHERE answered_ns IS NOT NULL
),
by_second AS (
    SELECT at_ns // 1000000000 AS second, sum(opened) AS opened, sum(answered) AS answered
    FROM changes
    GROUP BY 1
    UNION ALL
    SELECT unnest(range($seconds)), 0, 0
),
levels AS (
    SELECT
        second,
        sum(sum(opened)) OVER (ORDER BY second) AS open,
        sum(sum(answered)) OVER (ORDER BY second) AS answered
    FROM by_second
    GROUP BY second
)
SELECT second::INTEGER AS second, open::BIGINT AS open, answered::BIGINT AS answered
FROM levels
WHERE second >= 0 AND second < $seconds
ORDER BY second
