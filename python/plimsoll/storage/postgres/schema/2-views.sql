-- The seconds of the CENGN study: successful requests, and failed ones in a view of their own.
--
-- Every second of a trial is a row, also one in which nothing ended: its count is 0, its times are
-- null. A request counts in the second in which it ended. The elapsed time is that from sending to
-- the end of the response, the latency that to its first byte; both are null where they are not known.
-- Threads and the processor are those of the table `seconds`, so they are null until the campaign has
-- been judged; a core that is busy all the time is 100 percent. Threads are the users that another tool
-- counted, which stand in `requested_level` where the requested level is unknown; or else open connections.
--
-- OFFSET 0 keeps the planner from drawing the rows of all trials into one great join.
CREATE VIEW plimsoll.seconds_by_success AS
SELECT
    campaigns.name AS campaign,
    trials.trial,
    wanted.is_right,
    by_second.second,
    by_second.requests,
    by_second.elapsed_mean_ms,
    coalesce(
        CASE WHEN trials.recording_json::jsonb #>> '{load,model}' = 'unknown' THEN seconds.requested_level END,
        by_second.users,
        seconds.open_connections
    ) AS threads_mean,
    by_second.latency_mean_ms,
    by_second.elapsed_ms[1] AS elapsed_p25_ms,
    by_second.elapsed_ms[2] AS elapsed_p50_ms,
    by_second.elapsed_ms[3] AS elapsed_p75_ms,
    by_second.elapsed_ms[4] AS elapsed_p95_ms,
    100 * seconds.server_busy_cores AS cpu_percent
FROM plimsoll.campaigns
JOIN plimsoll.trials ON trials.campaign_id = campaigns.id
CROSS JOIN (VALUES (true), (false)) AS wanted (is_right)
CROSS JOIN LATERAL (
    SELECT
        every.second,
        coalesce(ended.requests, 0) AS requests,
        ended.elapsed_mean_ms,
        ended.latency_mean_ms,
        ended.elapsed_ms,
        at_work.users
    FROM generate_series(0, trials.seconds - 1) AS every (second)
    LEFT JOIN (
        SELECT
            coalesce(done_ns, due_ns, sent_ns) / 1000000000 AS second,
            count(*) AS requests,
            avg((done_ns - sent_ns) / 1e6::double precision) AS elapsed_mean_ms,
            avg((first_byte_ns - sent_ns) / 1e6::double precision) AS latency_mean_ms,
            percentile_cont(ARRAY[0.25, 0.5, 0.75, 0.95]) WITHIN GROUP (
                ORDER BY (done_ns - sent_ns) / 1e6::double precision
            ) AS elapsed_ms
        FROM plimsoll.requests
        WHERE requests.trial_id = trials.id
            AND CASE WHEN wanted.is_right THEN requests.outcome = 'ok'
                ELSE requests.outcome NOT IN ('ok', 'unfinished', 'cancelled') END
        GROUP BY 1
    ) AS ended ON ended.second = every.second
    LEFT JOIN (
        SELECT at_ns / 1000000000 AS second, sum(value) AS users
        FROM plimsoll.usage
        WHERE usage.trial_id = trials.id
            AND usage.scope = 'driver' AND usage.quantity = 'users_active'
        GROUP BY 1
    ) AS at_work ON at_work.second = every.second
    OFFSET 0
) AS by_second
LEFT JOIN plimsoll.seconds
    ON seconds.campaign_id = campaigns.id
    AND seconds.trial = trials.trial
    AND seconds.second = by_second.second;

CREATE VIEW plimsoll.seconds_success AS
SELECT
    campaign, trial, second, requests, elapsed_mean_ms, threads_mean, latency_mean_ms,
    elapsed_p25_ms, elapsed_p50_ms, elapsed_p75_ms, elapsed_p95_ms, cpu_percent
FROM plimsoll.seconds_by_success
WHERE is_right;

CREATE VIEW plimsoll.seconds_failure AS
SELECT
    campaign, trial, second, requests, elapsed_mean_ms, threads_mean, latency_mean_ms,
    elapsed_p25_ms, elapsed_p50_ms, elapsed_p75_ms, elapsed_p95_ms, cpu_percent
FROM plimsoll.seconds_by_success
WHERE NOT is_right;
