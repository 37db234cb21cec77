-- The ledger in an SQLite file.

-- name: sqlite_settle
PRAGMA wal_checkpoint(TRUNCATE);

-- name: sqlite_rectangles
-- An absence that somebody stated is no rectangle.
SELECT u.name, g.valid_from, g.valid_to, g.known_from, g.known_to, n.value
FROM segments g
JOIN slots s ON s.tenant_id = g.tenant_id AND s.slot_id = g.slot_id
JOIN subjects u ON u.tenant_id = s.tenant_id AND u.subject_id = s.subject_id
JOIN facts f ON f.tenant_id = g.tenant_id AND f.fact_id = g.fact_id
JOIN encodings n ON n.tenant_id = f.tenant_id AND n.fact_id = f.fact_id AND n.schema_version = f.schema_version
WHERE f.op IN ('assert', 'correct');
