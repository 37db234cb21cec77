-- The ledger in a PostgreSQL database, as its owner sees it.

-- name: postgres_settle
VACUUM (ANALYZE);

-- name: postgres_checkpoint
CHECKPOINT;

-- name: postgres_rectangles
-- An absence that somebody stated is no rectangle.
SELECT u.name, g.valid_from, g.valid_to, g.known_from, g.known_to, n.value
FROM sgam.segments g
JOIN sgam.slots s ON s.tenant_id = g.tenant_id AND s.slot_id = g.slot_id
JOIN sgam.subjects u ON u.tenant_id = s.tenant_id AND u.subject_id = s.subject_id
JOIN sgam.facts f ON f.tenant_id = g.tenant_id AND f.fact_id = g.fact_id
JOIN sgam.encodings n ON n.tenant_id = f.tenant_id AND n.fact_id = f.fact_id AND n.schema_version = f.schema_version
WHERE f.op IN ('assert', 'correct');

-- name: postgres_size
SELECT (SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c WHERE c.relnamespace = 'sgam'::regnamespace AND c.relkind = 'r')::bigint,
    pg_total_relation_size('sgam.segments');

-- name: role_owner
CREATE ROLE sgam_owner LOGIN;

-- name: role_application
CREATE ROLE sgam_app LOGIN;

-- name: database_ledger
CREATE DATABASE ledger OWNER sgam_owner;
