-- name: trees
SELECT tbl_name, rootpage FROM sqlite_schema WHERE rootpage > 0 ORDER BY rootpage;

-- name: segments
SELECT count(*) FROM segments;
