-- Responses by time and latency, for queries; they go with their trial.
CREATE TABLE plimsoll.latency_buckets (
    campaign_id integer NOT NULL REFERENCES plimsoll.campaigns ON DELETE CASCADE,
    trial text,
    time text,
    second integer,
    seconds integer,
    bucket smallint,
    completed bigint,
    held bigint
);

CREATE INDEX latency_buckets_trial
    ON plimsoll.latency_buckets (campaign_id, trial, second, bucket);
