-- The last end of a request before $until_ns, and the first start of one from $from_ns on.
SELECT
    max(done_ns) FILTER (done_ns < $until_ns::BIGINT),
    min(sent_ns) FILTER (sent_ns >= $from_ns::BIGINT)
FROM requests
