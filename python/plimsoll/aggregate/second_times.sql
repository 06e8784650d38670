-- Times of the complete responses of each second from $from_ns to $until_ns.
WITH answers AS (
    SELECT
        done_ns // 1000000000 AS second,
        done_ns - due_ns AS response_time,
        done_ns - sent_ns AS service_time,
        first_byte_ns - sent_ns AS first_byte
    FROM requests
    WHERE done_ns >= $from_ns::BIGINT AND done_ns < $until_ns::BIGINT AND is_completed(outcome)
)
SELECT
    second::BIGINT AS second,
    count(response_time) AS response_time_rows,
    quantile_disc(response_time, [0.25, 0.5, 0.75, 0.95, 0.99]) AS response_time,
    max(response_time) AS response_time_max,
    count(service_time) AS service_time_rows,
    quantile_disc(service_time, [0.25, 0.5, 0.75, 0.95, 0.99]) AS service_time,
    max(service_time) AS service_time_max,
    count(first_byte) AS first_byte_rows,
    quantile_disc(first_byte, 0.5) AS first_byte
FROM answers
GROUP BY second
ORDER BY second
