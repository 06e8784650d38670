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

CREATE OR REPLACE FUNCTION plimsoll.forget_rows() RETURNS trigger LANGUAGE plpgsql AS $$
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
