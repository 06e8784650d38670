-- How far each framework is from the best and from the next, and how far repetitions scatter.
ALTER TABLE plimsoll.comparisons
    ADD COLUMN scatter_ratio double precision,
    ADD COLUMN best_framework text,
    ADD COLUMN ratio_to_best double precision,
    ADD COLUMN ratio_to_best_low double precision,
    ADD COLUMN ratio_to_best_high double precision,
    ADD COLUMN next_framework text,
    ADD COLUMN ratio_to_next double precision,
    ADD COLUMN ratio_to_next_low double precision,
    ADD COLUMN ratio_to_next_high double precision;
