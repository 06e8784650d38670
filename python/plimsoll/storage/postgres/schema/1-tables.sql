-- Campaigns, their trials, and what was recorded. A type without a sign becomes the next wider one.
-- `seconds` of a trial are those from its zero to the end of its last stage or request; 0 where no
-- request has a row.
CREATE TABLE plimsoll.campaigns (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE,
    campaign_toml text,
    plan_json text NOT NULL DEFAULT '[]',
    published_toml text
);

CREATE TABLE plimsoll.trials (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    campaign_id integer NOT NULL REFERENCES plimsoll.campaigns ON DELETE CASCADE,
    trial text NOT NULL,
    framework text NOT NULL,
    variant text NOT NULL,
    language text NOT NULL,
    endpoint text NOT NULL,
    load text NOT NULL,
    repetition integer NOT NULL,
    driver text NOT NULL,
    zero_utc timestamptz,
    seconds integer NOT NULL,
    ending text NOT NULL,
    recording_json text NOT NULL,
    UNIQUE (campaign_id, trial)
);

-- No foreign keys from here on: they would cost a look-up for each row that is loaded. Whoever
-- replaces a trial removes its rows in the same transaction.
CREATE TABLE plimsoll.requests (
    trial_id integer NOT NULL,
    due_ns bigint,
    sent_ns bigint,
    first_byte_ns bigint,
    done_ns bigint,
    received_bytes bigint,
    body_bytes bigint,
    compared boolean,
    request integer,
    connection bigint,
    worker integer,
    host text,
    status integer,
    outcome text,
    errno smallint,
    sent_bytes bigint
);

CREATE TABLE plimsoll.connections (
    trial_id integer NOT NULL,
    due_ns bigint,
    connected_ns bigint,
    closed_ns bigint,
    requests bigint,
    responses bigint,
    connection bigint,
    worker integer,
    host text,
    outcome text,
    errno smallint
);

CREATE TABLE plimsoll.usage (
    trial_id integer NOT NULL,
    at_ns bigint,
    host text,
    scope text,
    quantity text,
    value double precision
);

-- Rows of a trial are loaded together and lie together, so a summary of each stretch of pages finds
-- them, costs next to nothing to keep, and takes some kilobytes for millions of rows.
CREATE INDEX requests_trial ON plimsoll.requests
    USING brin (trial_id, done_ns) WITH (pages_per_range = 32, autosummarize = on);
CREATE INDEX connections_trial ON plimsoll.connections
    USING brin (trial_id, due_ns) WITH (pages_per_range = 32, autosummarize = on);
CREATE INDEX usage_trial ON plimsoll.usage
    USING brin (trial_id, at_ns) WITH (pages_per_range = 32, autosummarize = on);

CREATE TABLE plimsoll.logs (
    trial_id integer NOT NULL REFERENCES plimsoll.trials ON DELETE CASCADE,
    name text NOT NULL,
    content text NOT NULL,
    PRIMARY KEY (trial_id, name)
);

-- All that is derived, as the program reads it. `plimsoll judge` makes it again.
CREATE TABLE plimsoll.derived_tables (
    campaign_id integer NOT NULL REFERENCES plimsoll.campaigns ON DELETE CASCADE,
    name text NOT NULL,
    content_parquet bytea NOT NULL,
    PRIMARY KEY (campaign_id, name)
);

CREATE TABLE plimsoll.derived_documents (
    campaign_id integer NOT NULL REFERENCES plimsoll.campaigns ON DELETE CASCADE,
    name text NOT NULL,
    content_json text NOT NULL,
    PRIMARY KEY (campaign_id, name)
);

-- Whoever deletes a trial, or a whole campaign, is rid of its rows as well: in every table, also in those
-- that later steps create.
CREATE FUNCTION plimsoll.forget_rows() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM plimsoll.requests WHERE trial_id = OLD.id;
    DELETE FROM plimsoll.connections WHERE trial_id = OLD.id;
    DELETE FROM plimsoll.usage WHERE trial_id = OLD.id;
    DELETE FROM plimsoll.seconds WHERE campaign_id = OLD.campaign_id AND trial = OLD.trial;
    DELETE FROM plimsoll.summaries WHERE campaign_id = OLD.campaign_id AND trial = OLD.trial;
    DELETE FROM plimsoll.stages WHERE campaign_id = OLD.campaign_id AND trial = OLD.trial;
    DELETE FROM plimsoll.quantiles WHERE campaign_id = OLD.campaign_id AND trial = OLD.trial;
    DELETE FROM plimsoll.latency_buckets WHERE campaign_id = OLD.campaign_id AND trial = OLD.trial;
    RETURN OLD;
END
$$;

CREATE TRIGGER forget_rows AFTER DELETE ON plimsoll.trials
    FOR EACH ROW EXECUTE FUNCTION plimsoll.forget_rows();

-- Derived tables of the data dictionary once more, for queries.
CREATE TABLE plimsoll.seconds (
    campaign_id integer NOT NULL REFERENCES plimsoll.campaigns ON DELETE CASCADE,
    trial text,
    second integer,
    stage text,
    requested_level double precision,
    due bigint,
    completed bigint,
    ok bigint,
    failed bigint,
    open_connections double precision,
    in_flight double precision,
    response_time_p25_ns double precision,
    response_time_p50_ns double precision,
    response_time_p75_ns double precision,
    response_time_p95_ns double precision,
    response_time_p99_ns double precision,
    response_time_max_ns double precision,
    service_time_p25_ns double precision,
    service_time_p50_ns double precision,
    service_time_p75_ns double precision,
    service_time_p95_ns double precision,
    service_time_p99_ns double precision,
    service_time_max_ns double precision,
    first_byte_p50_ns double precision,
    received_bytes bigint,
    server_busy_cores double precision,
    server_rss_bytes double precision,
    driver_busy_cores double precision,
    driver_rss_bytes double precision,
    machine_busy_cores double precision,
    listen_queue double precision,
    listen_overflows double precision
);

CREATE TABLE plimsoll.summaries (
    campaign_id integer NOT NULL REFERENCES plimsoll.campaigns ON DELETE CASCADE,
    trial text,
    duration_s double precision,
    completed bigint,
    ok bigint,
    failed bigint,
    unfinished bigint,
    throughput_per_s double precision,
    goodput_per_s double precision,
    failure_ratio double precision,
    response_time_mean_ns double precision,
    response_time_min_ns double precision,
    response_time_p25_ns double precision,
    response_time_p50_ns double precision,
    response_time_p75_ns double precision,
    response_time_p90_ns double precision,
    response_time_p95_ns double precision,
    response_time_p99_ns double precision,
    response_time_p999_ns double precision,
    response_time_p9999_ns double precision,
    response_time_max_ns double precision,
    service_time_mean_ns double precision,
    service_time_min_ns double precision,
    service_time_p25_ns double precision,
    service_time_p50_ns double precision,
    service_time_p75_ns double precision,
    service_time_p90_ns double precision,
    service_time_p95_ns double precision,
    service_time_p99_ns double precision,
    service_time_p999_ns double precision,
    service_time_p9999_ns double precision,
    service_time_max_ns double precision,
    first_byte_mean_ns double precision,
    first_byte_min_ns double precision,
    first_byte_p25_ns double precision,
    first_byte_p50_ns double precision,
    first_byte_p75_ns double precision,
    first_byte_p90_ns double precision,
    first_byte_p95_ns double precision,
    first_byte_p99_ns double precision,
    first_byte_p999_ns double precision,
    first_byte_p9999_ns double precision,
    first_byte_max_ns double precision,
    connect_mean_ns double precision,
    connect_min_ns double precision,
    connect_p25_ns double precision,
    connect_p50_ns double precision,
    connect_p75_ns double precision,
    connect_p90_ns double precision,
    connect_p95_ns double precision,
    connect_p99_ns double precision,
    connect_p999_ns double precision,
    connect_p9999_ns double precision,
    connect_max_ns double precision,
    lag_mean_ns double precision,
    lag_min_ns double precision,
    lag_p25_ns double precision,
    lag_p50_ns double precision,
    lag_p75_ns double precision,
    lag_p90_ns double precision,
    lag_p95_ns double precision,
    lag_p99_ns double precision,
    lag_p999_ns double precision,
    lag_p9999_ns double precision,
    lag_max_ns double precision,
    received_bytes bigint,
    received_bytes_per_s double precision,
    sent_bytes bigint,
    connections_requested bigint,
    connections_opened bigint,
    connections_with_response bigint,
    connections_refused bigint,
    connections_lost bigint,
    connections_peak_open bigint,
    open_connections double precision,
    in_flight double precision,
    server_busy_cores double precision,
    server_cpu_s_per_request double precision,
    requests_per_core_s double precision,
    server_peak_rss_bytes double precision,
    server_peak_pss_bytes double precision,
    net_power_w double precision,
    requests_per_joule double precision,
    driver_busy_cores double precision,
    driver_peak_busy_ratio double precision,
    source text
);

CREATE TABLE plimsoll.comparisons (
    campaign_id integer NOT NULL REFERENCES plimsoll.campaigns ON DELETE CASCADE,
    framework text,
    endpoint text,
    load text,
    driver text,
    quantity text,
    median double precision,
    low double precision,
    high double precision,
    repetitions integer,
    excluded integer,
    rank_low integer,
    rank_high integer
);

CREATE INDEX seconds_trial ON plimsoll.seconds (campaign_id, trial, second);
CREATE INDEX summaries_trial ON plimsoll.summaries (campaign_id, trial);
CREATE INDEX comparisons_campaign ON plimsoll.comparisons (campaign_id);
