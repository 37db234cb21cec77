-- PostgreSQL's extension periods, as its manual has it.
--
-- Two things are otherwise than one would begin. The overlap guard is made by hand and deferrable: the view for portions inserts
-- what sticks out on the left before it shortens the row, and the guard that add_unique_key makes, which must not be
-- deferrable, refuses that. And an absence is a row without a value, since there is no portion delete.

-- name: database_periods
CREATE DATABASE periods;

-- name: periods_table
-- The primary key has to be a number that is drawn: the view leaves key columns out of the pieces that it inserts.
CREATE TABLE facts (
    id         bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    slot       bigint      NOT NULL,
    value      text,
    valid_from timestamptz NOT NULL,
    valid_to   timestamptz NOT NULL,
    EXCLUDE USING gist (slot WITH =, tstzrange(valid_from, valid_to, '[)') WITH &&) DEFERRABLE INITIALLY IMMEDIATE
);

-- name: periods_validity
SELECT periods.add_period('facts', 'validity', 'valid_from', 'valid_to');

-- name: periods_portions
SELECT periods.add_for_portion_view('facts', 'validity');

-- name: periods_system_time
SELECT periods.add_system_time_period('facts', 'row_start', 'row_end');

-- name: periods_versioning
SELECT periods.add_system_versioning('facts');

-- name: periods_index
CREATE INDEX ON facts (slot, valid_from);

-- name: periods_index_history
CREATE INDEX ON facts_history (slot, row_end, valid_from);

-- name: periods_lax
-- Loading need not be durable before it is done.
SET synchronous_commit = off;

-- name: periods_strict
RESET synchronous_commit;

-- name: periods_now
-- The known time of the transaction.
SELECT transaction_timestamp();

-- name: periods_insert
INSERT INTO facts (slot, value, valid_from, valid_to) VALUES ($1, $2, $3, $4);

-- name: periods_portion
UPDATE facts__for_portion_of_validity SET value = $2, valid_from = $3, valid_to = $4
WHERE slot = $1 AND valid_from < $4 AND valid_to > $3;

-- name: periods_portion_of_values
UPDATE facts__for_portion_of_validity SET value = $2, valid_from = $3, valid_to = $4
WHERE slot = $1 AND valid_from < $4 AND valid_to > $3 AND value IS NOT NULL;

-- name: periods_held
-- Where there are rows, to find the gaps between them.
SELECT valid_from, valid_to FROM facts WHERE slot = $1 AND valid_from < $3 AND valid_to > $2 ORDER BY valid_from;

-- name: periods_current
-- Rows do not overlap, so the last one that begins in time is the only candidate.
SELECT value, valid_from, valid_to, row_start FROM facts
WHERE slot = $1 AND valid_from <= $2 AND valid_to > $2
ORDER BY valid_from DESC LIMIT 1;

-- name: periods_as_of
SELECT value, valid_from, valid_to, row_start FROM facts__as_of($3)
WHERE slot = $1 AND valid_from <= $2 AND valid_to > $2
LIMIT 1;

-- name: periods_rectangles
SELECT slot, value, valid_from, valid_to, row_start, row_end FROM facts_with_history WHERE value IS NOT NULL;

-- name: periods_size
SELECT pg_total_relation_size('facts') + pg_total_relation_size('facts_history');
