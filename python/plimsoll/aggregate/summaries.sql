-- Counts, sums and means of the holds, and what was left at the very end; one row.
WITH ended AS (
    SELECT
        outcome,
        compared,
        received_bytes,
        in_hold(coalesce(done_ns, due_ns, sent_ns)) AND NOT is_unended(outcome) AS counts,
        counts AND is_completed(outcome) AS answers,
        CASE WHEN answers THEN done_ns - due_ns END AS response_time,
        CASE WHEN answers THEN done_ns - sent_ns END AS service_time,
        CASE WHEN answers THEN first_byte_ns - sent_ns END AS first_byte,
        CASE WHEN answers THEN sent_ns - due_ns END AS lag
    FROM requests
)
SELECT
    count(*) FILTER (answers) AS completed,
    count(*) FILTER (counts AND is_right(outcome)) AS ok,
    count(*) FILTER (counts AND compared AND outcome = 'wrong_body') > 0
        AND count(*) FILTER (counts AND NOT compared) > 0 AS some_of_ok_are_wrong,
    count(*) FILTER (counts AND is_failed(outcome)) AS failed,
    count(*) FILTER (is_unended(outcome)) AS unfinished,
    CASE WHEN count(*) = 0 OR count(received_bytes) > 0
        THEN coalesce(sum(received_bytes) FILTER (counts), 0)::BIGINT
    END AS received_bytes,
    avg(response_time) AS response_time_mean_ns,
    min(response_time) AS response_time_min_ns,
    max(response_time) AS response_time_max_ns,
    avg(service_time) AS service_time_mean_ns,
    min(service_time) AS service_time_min_ns,
    max(service_time) AS service_time_max_ns,
    avg(first_byte) AS first_byte_mean_ns,
    min(first_byte) AS first_byte_min_ns,
    max(first_byte) AS first_byte_max_ns,
    avg(lag) AS lag_mean_ns,
    min(lag) AS lag_min_ns,
    max(lag) AS lag_max_ns
FROM ended
