-- MariaDB's bitemporal tables, as its manual has them: an application-time period, a key without overlaps, system versioning.

-- name: maria_database
CREATE DATABASE rivals;

-- name: maria_table
-- The server adds the end of known time to the key, behind the slot: the rows that stand are a range of it, and so are those
-- that stood after an instant. It is the clustered index.
CREATE TABLE facts (
    slot       BIGINT       NOT NULL,
    value      VARCHAR(255) NOT NULL,
    valid_from DATETIME(6)  NOT NULL,
    valid_to   DATETIME(6)  NOT NULL,
    row_start  TIMESTAMP(6) GENERATED ALWAYS AS ROW START,
    row_end    TIMESTAMP(6) GENERATED ALWAYS AS ROW END,
    PERIOD FOR validity (valid_from, valid_to),
    PERIOD FOR SYSTEM_TIME (row_start, row_end),
    PRIMARY KEY (slot, validity WITHOUT OVERLAPS)
) ENGINE = InnoDB WITH SYSTEM VERSIONING;

-- name: maria_known_at
SET @@timestamp = ?;

-- name: maria_clock
SET @@timestamp = DEFAULT;

-- name: maria_lax
-- Loading need not be durable before it is done.
SET GLOBAL innodb_flush_log_at_trx_commit = 0;

-- name: maria_strict
SET GLOBAL innodb_flush_log_at_trx_commit = 1;

-- name: maria_insert
INSERT INTO facts (slot, value, valid_from, valid_to) VALUES (?, ?, ?, ?);

-- name: maria_portion
UPDATE facts FOR PORTION OF validity FROM ? TO ? SET value = ? WHERE slot = ?;

-- name: maria_void
DELETE FROM facts FOR PORTION OF validity FROM ? TO ? WHERE slot = ?;

-- name: maria_current
-- Rows do not overlap, so the first one that ends late enough is the only candidate.
SELECT value, valid_from, valid_to, row_start FROM facts
WHERE slot = ? AND valid_from <= ? AND valid_to > ?
ORDER BY valid_to LIMIT 1;

-- name: maria_as_of
SELECT value, valid_from, valid_to, row_start FROM facts FOR SYSTEM_TIME AS OF ?
WHERE slot = ? AND valid_from <= ? AND valid_to > ?
LIMIT 1;

-- name: maria_rectangles
SELECT slot, value, valid_from, valid_to, row_start, row_end FROM facts FOR SYSTEM_TIME ALL;

-- name: maria_settle
ANALYZE TABLE facts;

-- name: maria_size
SELECT data_length + index_length FROM information_schema.tables WHERE table_schema = 'rivals' AND table_name = 'facts';
