-- Distributions of times, for queries; they go with their trial.
CREATE TABLE plimsoll.quantiles (
    campaign_id integer NOT NULL REFERENCES plimsoll.campaigns ON DELETE CASCADE,
    trial text,
    time text,
    quantile double precision,
    value_ns bigint
);

CREATE INDEX quantiles_trial ON plimsoll.quantiles (campaign_id, trial, quantile);

CREATE OR REPLACE FUNCTION plimsoll.forget_rows() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM plimsoll.requests WHERE trial_id = OLD.id;
    DELETE FROM plimsoll.connections WHERE trial_id = OLD.id;
    DELETE FROM plimsoll.usage WHERE trial_id = OLD.id;
    DELETE FROM plimsoll.seconds WHERE campaign_id = OLD.campaign_id AND trial = OLD.trial;
    DELETE FROM plimsoll.summaries WHERE campaign_id = OLD.campaign_id AND trial = OLD.trial;
    DELETE FROM plimsoll.quantiles WHERE campaign_id = OLD.campaign_id AND trial = OLD.trial;
    RETURN OLD;
END
$$;
