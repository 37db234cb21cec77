-- The file itself: its identity, its settings, its few global values.
--
-- In every file here a parameter is written +?1, never ?1. The planner looks at the values of bare parameters, and
-- SQLite then compiles the statement anew at each execution: five times the cost of a point read. The sign hides the
-- parameter from the planner and changes nothing else.

-- name: begin_write
BEGIN IMMEDIATE;

-- name: begin_read
BEGIN DEFERRED;

-- name: commit
COMMIT;

-- name: rollback
ROLLBACK;

-- name: application_id
PRAGMA application_id;

-- name: user_version
PRAGMA user_version;

-- name: schema_objects
SELECT count(*) FROM sqlite_schema;

-- name: schema_text
-- What has to run to make an empty database like this one, its marks included.
SELECT sql FROM (
    SELECT 1 AS part, rowid AS place, sql FROM sqlite_schema WHERE sql IS NOT NULL
    UNION ALL SELECT 2, 1, 'PRAGMA application_id = ' || application_id FROM pragma_application_id
    UNION ALL SELECT 2, 2, 'PRAGMA user_version = ' || user_version FROM pragma_user_version
) ORDER BY part, place;

-- name: checkpoint
PRAGMA wal_checkpoint(TRUNCATE);

-- name: meta
SELECT value FROM meta WHERE name = +?1;

-- name: set_meta
INSERT INTO meta (name, value) VALUES (+?1, +?2);
