-- Distributions of times, for queries; they go with their trial.
CREATE TABLE plimsoll.quantiles (
    campaign_id integer NOT NULL REFERENCES plimsoll.campaigns ON DELETE CASCADE,
    trial text,
    time text,
    quantile double precision,
    value_ns bigint
);

CREATE INDEX quantiles_trial ON plimsoll.quantiles (campaign_id, trial, quantile);
