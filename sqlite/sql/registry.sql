-- Memory types, their versions and attributes.

-- name: versions
SELECT v.type_id, t.name, v.version, v.draft, CAST(v.document AS BLOB), v.hash, v.semantic,
    max(v.revision, coalesce(l.revision, 0)), CAST(l.document AS BLOB), l.hash
FROM types t CROSS JOIN type_versions v ON v.type_id = t.type_id
LEFT JOIN lenses l ON l.type_id = v.type_id AND l.version = v.version AND l.revision = (
    SELECT max(x.revision) FROM lenses x WHERE x.type_id = v.type_id AND x.version = v.version)
ORDER BY t.name, v.version;

-- name: newest_lens
SELECT hash FROM lenses WHERE type_id = +?1 AND version = +?2 ORDER BY revision DESC LIMIT 1;

-- name: add_lens
INSERT INTO lenses (type_id, version, revision, document, hash) VALUES (+?1, +?2, +?3, CAST(+?4 AS TEXT), +?5);

-- name: lens_user
-- Some tenant that reads or writes the version, or a later one, and came there from an earlier one.
SELECT e.tenant_id FROM epochs e
WHERE e.type_id = +?1 AND max(e.read_version, e.write_version, coalesce(e.second_version, 0)) >= +?2
    AND NOT EXISTS (SELECT 1 FROM epochs x WHERE x.tenant_id = e.tenant_id AND x.type_id = e.type_id AND x.known_from > e.known_from)
    AND EXISTS (SELECT 1 FROM epochs y WHERE y.tenant_id = e.tenant_id AND y.type_id = e.type_id AND min(y.read_version, y.write_version) < +?2)
LIMIT 1;

-- name: version_attributes
SELECT a.position, a.attribute_id, d.tag, a.many
FROM version_attributes a CROSS JOIN attributes d ON d.attribute_id = a.attribute_id
WHERE a.type_id = +?1 AND a.version = +?2
ORDER BY a.position;

-- name: attribute_names
SELECT position, name FROM attribute_names WHERE type_id = +?1 AND version = +?2 ORDER BY position, place;

-- name: type_by_name
SELECT type_id, (SELECT max(version) FROM type_versions v WHERE v.type_id = t.type_id) FROM types t WHERE name = +?1;

-- name: version
SELECT draft, semantic FROM type_versions WHERE type_id = +?1 AND version = +?2;

-- name: name_taken
SELECT d.type_id, d.tag
FROM attribute_names n
CROSS JOIN version_attributes a ON a.type_id = n.type_id AND a.version = n.version AND a.position = n.position
CROSS JOIN attributes d ON d.attribute_id = a.attribute_id
WHERE n.name = +?1;

-- name: add_type
INSERT INTO types (name) VALUES (+?1) RETURNING type_id;

-- name: add_version
INSERT INTO type_versions (type_id, version, draft, document, hash, semantic, revision)
VALUES (+?1, +?2, 1, CAST(+?3 AS TEXT), +?4, +?5, +?6);

-- name: freeze_version
UPDATE type_versions SET draft = 0 WHERE type_id = +?1 AND version = +?2;

-- name: drop_draft_names
DELETE FROM attribute_names WHERE type_id = +?1 AND version = +?2;

-- name: drop_draft_attributes
DELETE FROM version_attributes WHERE type_id = +?1 AND version = +?2;

-- name: drop_draft
DELETE FROM type_versions WHERE type_id = +?1 AND version = +?2;

-- name: attribute_by_tag
SELECT attribute_id FROM attributes WHERE type_id = +?1 AND tag = +?2;

-- name: add_attribute
INSERT INTO attributes (type_id, tag) VALUES (+?1, +?2) RETURNING attribute_id;

-- name: add_version_attribute
INSERT INTO version_attributes (type_id, version, position, attribute_id, many) VALUES (+?1, +?2, +?3, +?4, +?5);

-- name: add_attribute_name
INSERT INTO attribute_names (type_id, version, position, place, name) VALUES (+?1, +?2, +?3, +?4, +?5);
