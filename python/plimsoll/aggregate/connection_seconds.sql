-- Connections open at the end of each of the first $seconds seconds, and how many of these had got
-- a byte of a response by then.
WITH responses AS (
    SELECT host::VARCHAR AS host, worker, connection, min(first_byte_ns) AS first_response_ns
    FROM requests
    WHERE first_byte_ns IS NOT NULL AND connection IS NOT NULL
    GROUP BY ALL
),
lives AS (
    SELECT connected_ns, closed_ns, first_response_ns
    FROM connections LEFT JOIN responses
        ON connections.host::VARCHAR = responses.host
        AND connections.worker = responses.worker
        AND connections.connection = responses.connection
    WHERE connected_ns IS NOT NULL
),
changes AS (
    SELECT connected_ns AS at_ns, 1 AS opened, 0 AS with_response FROM lives
    UNION ALL
    SELECT closed_ns, -1, CASE WHEN first_response_ns IS NULL THEN 0 ELSE -1 END
    FROM lives WHERE closed_ns IS NOT NULL
    UNION ALL
    SELECT first_response_ns, 0, 1 FROM lives WHERE first_response_ns IS NOT NULL
),
by_second AS (
    SELECT at_ns // 1000000000 AS second, sum(opened) AS opened, sum(with_response) AS with_response
    FROM changes
    GROUP BY 1
    UNION ALL
    SELECT unnest(range($seconds::BIGINT)), 0, 0
),
levels AS (
    SELECT
        second,
        sum(sum(opened)) OVER (ORDER BY second) AS open,
        sum(sum(with_response)) OVER (ORDER BY second) AS with_response
    FROM by_second
    GROUP BY second
)
SELECT second::INTEGER AS second, open::BIGINT AS open, with_response::BIGINT AS with_response
FROM levels
WHERE second >= 0 AND second < $seconds::BIGINT
ORDER BY second
