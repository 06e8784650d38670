-- The campaign as run: the file with the settings of the command line over it, and every default.
ALTER TABLE plimsoll.campaigns ADD COLUMN campaign_json text;
