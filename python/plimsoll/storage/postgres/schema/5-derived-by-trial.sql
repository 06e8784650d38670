-- What is derived from each trial, as the program reads it; it goes with its trial. `derived_tables` and
-- `derived_documents` hold what is derived from a campaign as a whole.
CREATE TABLE plimsoll.trial_derived_tables (
    trial_id integer NOT NULL REFERENCES plimsoll.trials ON DELETE CASCADE,
    name text NOT NULL,
    content_parquet bytea NOT NULL,
    PRIMARY KEY (trial_id, name)
);

CREATE TABLE plimsoll.trial_derived_documents (
    trial_id integer NOT NULL REFERENCES plimsoll.trials ON DELETE CASCADE,
    name text NOT NULL,
    content_json text NOT NULL,
    PRIMARY KEY (trial_id, name)
);

-- What was derived from whole campaigns before is derived by trial now.
DELETE FROM plimsoll.derived_tables WHERE name <> 'comparisons';
DELETE FROM plimsoll.derived_documents WHERE name <> 'campaign_verdicts';
DELETE FROM plimsoll.seconds;
DELETE FROM plimsoll.summaries;
