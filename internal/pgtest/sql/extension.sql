-- name: extend
-- With the extensions that it needs.
CREATE EXTENSION %s CASCADE;
