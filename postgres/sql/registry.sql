-- Memory types, their versions and attributes. They belong to no tenant.

-- name: versions
SELECT v.type_id, y.name, v.version, v.draft, v.document, v.hash, v.semantic, greatest(v.revision, l.revision), l.document, l.hash
FROM sgam.types y
JOIN sgam.type_versions v ON v.type_id = y.type_id
LEFT JOIN LATERAL (
    SELECT x.revision, x.document, x.hash FROM sgam.lenses x
    WHERE x.type_id = v.type_id AND x.version = v.version
    ORDER BY x.revision DESC LIMIT 1) l ON true
ORDER BY y.name, v.version;

-- name: version_attributes
SELECT a.type_id, a.version, a.attribute_id, d.tag, a.many, n.name
FROM sgam.type_versions v
JOIN sgam.version_attributes a ON a.type_id = v.type_id AND a.version = v.version AND a.revision = v.revision
JOIN sgam.attributes d ON d.attribute_id = a.attribute_id
JOIN sgam.attribute_names n ON n.type_id = a.type_id AND n.version = a.version AND n.revision = a.revision AND n.position = a.position
ORDER BY a.type_id, a.version, a.position, n.place;

-- name: next_revision
-- The lock of whoever registers: it waits for the others, and for the writes that hold the registry.
UPDATE sgam.registry r SET revision = r.revision + 1 WHERE r.one RETURNING r.revision;

-- name: version
-- A type, its newest version, and what is stored of version $2.
SELECT y.type_id, (SELECT max(x.version) FROM sgam.type_versions x WHERE x.type_id = y.type_id), v.draft, v.semantic, (
    SELECT l.hash FROM sgam.lenses l WHERE l.type_id = y.type_id AND l.version = $2 ORDER BY l.revision DESC LIMIT 1)
FROM sgam.types y
LEFT JOIN sgam.type_versions v ON v.type_id = y.type_id AND v.version = $2
WHERE y.name = $1;

-- name: lens_user
-- Some tenant that reads or writes the version, or a later one, and came there from an earlier one.
SELECT e.tenant_id FROM sgam.epochs e
WHERE e.type_id = $1 AND greatest(e.read_version, e.write_version, e.second_version) >= $2
    AND EXISTS (SELECT 1 FROM sgam.epochs y
        WHERE y.tenant_id = e.tenant_id AND y.type_id = e.type_id AND least(y.read_version, y.write_version) < $2)
    AND NOT EXISTS (SELECT 1 FROM sgam.epochs x
        WHERE x.tenant_id = e.tenant_id AND x.type_id = e.type_id AND x.known_from > e.known_from)
LIMIT 1;

-- name: names_taken
-- Those of the names that an attribute has already, apart from version $3 of type $2.
SELECT n.name, d.type_id, d.tag
FROM sgam.attribute_names n
JOIN sgam.type_versions v ON v.type_id = n.type_id AND v.version = n.version AND v.revision = n.revision
JOIN sgam.version_attributes a ON a.type_id = n.type_id AND a.version = n.version AND a.revision = n.revision AND a.position = n.position
JOIN sgam.attributes d ON d.attribute_id = a.attribute_id
WHERE n.name = ANY ($1::text[]) AND NOT (n.type_id = $2 AND n.version = $3);

-- name: attributes_of_type
SELECT a.tag, a.attribute_id FROM sgam.attributes a WHERE a.type_id = $1;

-- name: next_numbers
SELECT y.next, a.next
FROM (SELECT coalesce(max(x.type_id), 0) + 1 AS next FROM sgam.types x) y
CROSS JOIN (SELECT coalesce(max(x.attribute_id), 0) + 1 AS next FROM sgam.attributes x) a;

-- name: type_ids
SELECT y.name, y.type_id FROM sgam.types y WHERE y.name = ANY ($1::text[]);

-- name: add_type
INSERT INTO sgam.types (type_id, name) VALUES ($1, $2);

-- name: add_version
INSERT INTO sgam.type_versions (type_id, version, draft, document, hash, semantic, revision) VALUES ($1, $2, true, $3, $4, $5, $6);

-- name: replace_draft
UPDATE sgam.type_versions v SET document = $3, hash = $4, semantic = $5, revision = $6
WHERE v.type_id = $1 AND v.version = $2 AND v.draft;

-- name: freeze_version
UPDATE sgam.type_versions v SET draft = false WHERE v.type_id = $1 AND v.version = $2 AND v.draft;

-- name: add_attribute
INSERT INTO sgam.attributes (attribute_id, type_id, tag) VALUES ($1, $2, $3);

-- name: add_version_attribute
INSERT INTO sgam.version_attributes (type_id, version, revision, position, attribute_id, many) VALUES ($1, $2, $3, $4, $5, $6);

-- name: add_attribute_name
INSERT INTO sgam.attribute_names (type_id, version, revision, position, place, name) VALUES ($1, $2, $3, $4, $5, $6);

-- name: add_lens
INSERT INTO sgam.lenses (type_id, version, revision, document, hash) VALUES ($1, $2, $3, $4, $5);
