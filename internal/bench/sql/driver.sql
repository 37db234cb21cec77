-- name: version
SELECT sqlite_version();

-- name: schema
SELECT type, name, tbl_name, sql FROM sqlite_schema;

-- name: seek
SELECT last_known FROM tenants WHERE name = +?1;
