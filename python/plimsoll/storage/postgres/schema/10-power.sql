-- Power and energy by RAPL and by a meter at the wall, in place of two columns of RAPL.
ALTER TABLE plimsoll.summaries DROP COLUMN IF EXISTS requests_per_joule;
ALTER TABLE plimsoll.summaries DROP COLUMN IF EXISTS net_power_w;
ALTER TABLE plimsoll.summaries
    ADD COLUMN IF NOT EXISTS rapl_power_w double precision,
    ADD COLUMN IF NOT EXISTS rapl_idle_power_w double precision,
    ADD COLUMN IF NOT EXISTS rapl_net_power_w double precision,
    ADD COLUMN IF NOT EXISTS rapl_net_power_low_w double precision,
    ADD COLUMN IF NOT EXISTS rapl_net_power_high_w double precision,
    ADD COLUMN IF NOT EXISTS rapl_j_per_ok double precision,
    ADD COLUMN IF NOT EXISTS rapl_net_j_per_ok double precision,
    ADD COLUMN IF NOT EXISTS wall_power_w double precision,
    ADD COLUMN IF NOT EXISTS wall_idle_power_w double precision,
    ADD COLUMN IF NOT EXISTS wall_net_power_w double precision,
    ADD COLUMN IF NOT EXISTS wall_net_power_low_w double precision,
    ADD COLUMN IF NOT EXISTS wall_net_power_high_w double precision,
    ADD COLUMN IF NOT EXISTS wall_j_per_ok double precision,
    ADD COLUMN IF NOT EXISTS wall_net_j_per_ok double precision;
