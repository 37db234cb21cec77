-- How the rows of a large call are copied. The texts are made for each table from the statement that inserts one row: its
-- table, its columns, and what follows its values.

-- name: stage_rows
CREATE TEMPORARY TABLE %s AS SELECT %s FROM sgam.%s WHERE false;

-- name: copy_rows
COPY pg_temp.%s FROM STDIN (FORMAT binary);

-- name: insert_staged_rows
-- The condition keeps ON CONFLICT from being read as a part of the FROM.
INSERT INTO sgam.%s%s (%s) SELECT %s FROM pg_temp.%s staged WHERE true%s;

-- name: drop_stage
DROP TABLE pg_temp.%s;
