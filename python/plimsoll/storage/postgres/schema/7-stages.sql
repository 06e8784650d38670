-- Summaries say what their trial is one of, and requests know their stage. Older rows are derived anew
-- when a campaign is next judged.
ALTER TABLE plimsoll.summaries
    ADD COLUMN framework text,
    ADD COLUMN endpoint text,
    ADD COLUMN load text,
    ADD COLUMN driver text,
    ADD COLUMN repetition integer;

CREATE TABLE plimsoll.stages (
    campaign_id integer NOT NULL REFERENCES plimsoll.campaigns ON DELETE CASCADE,
    trial text,
    number integer,
    stage text,
    start_ns bigint,
    end_ns bigint,
    requested_from double precision,
    requested_to double precision
);

CREATE INDEX stages_trial ON plimsoll.stages (campaign_id, trial, number);

CREATE VIEW plimsoll.requests_by_stage AS
SELECT
    campaigns.name AS campaign,
    trials.trial,
    coalesce(stages.stage, 'after') AS stage,
    requests.*
FROM plimsoll.requests
JOIN plimsoll.trials ON trials.id = requests.trial_id
JOIN plimsoll.campaigns ON campaigns.id = trials.campaign_id
LEFT JOIN plimsoll.stages
    ON stages.campaign_id = trials.campaign_id
    AND stages.trial = trials.trial
    AND coalesce(requests.done_ns, requests.due_ns, requests.sent_ns) >= stages.start_ns
    AND coalesce(requests.done_ns, requests.due_ns, requests.sent_ns) < stages.end_ns;
