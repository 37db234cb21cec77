-- The read path. No statement here scans a table. What stands in {{ }} is in parts.sql.

-- name: tenants
SELECT name FROM tenants WHERE name > +?1 ORDER BY name LIMIT +?2;

-- name: clock
SELECT tenant_id, last_known, last_seq, last_fact, {{revision}}
FROM tenants WHERE name = +?1;

-- name: point_current
-- What is believed now about an instant: the later of ?6 and the last commit, or ?6 itself when ?7 is the beginning of
-- time. It is one statement because it is the read that an agent does most.
SELECT {{point_columns}}
FROM tenants t
{{point_slot}}
{{point_segment_current}}
{{point_fact}}
WHERE t.name = +?1;

-- name: point_known
-- The same, as it was known at ?8.
SELECT {{point_columns}}
FROM tenants t
{{point_slot}}
{{point_segment_known}}
{{point_fact}}
WHERE t.name = +?1;

-- name: point_current_forms
-- point_current with the epoch of the attribute's memory type, and with what lenses made of the fact's value: a row for each.
SELECT {{point_columns}}, {{form_columns}}
FROM tenants t
{{point_slot}}
{{point_segment_current}}
{{point_fact}}
LEFT JOIN attributes a ON a.attribute_id = s.attribute_id
LEFT JOIN types y ON y.type_id = a.type_id
LEFT JOIN epochs h ON h.tenant_id = t.tenant_id AND h.type_id = y.type_id AND h.known_from = (
        SELECT max(x.known_from) FROM epochs x
        WHERE x.tenant_id = t.tenant_id AND x.type_id = y.type_id AND x.known_from <= t.last_known)
LEFT JOIN encodings m ON m.tenant_id = t.tenant_id AND m.fact_id = f.fact_id AND +m.lens IS NOT NULL AND m.known_from <= t.last_known
WHERE t.name = +?1;

-- name: point_known_forms
-- point_known with the same, as it was known then.
SELECT {{point_columns}}, {{form_columns}}
FROM tenants t
{{point_slot}}
{{point_segment_known}}
{{point_fact}}
LEFT JOIN attributes a ON a.attribute_id = s.attribute_id
LEFT JOIN types y ON y.type_id = a.type_id
LEFT JOIN epochs h ON h.tenant_id = t.tenant_id AND h.type_id = y.type_id AND h.known_from = (
        SELECT max(x.known_from) FROM epochs x
        WHERE x.tenant_id = t.tenant_id AND x.type_id = y.type_id AND x.known_from <= min(+?8, t.last_known))
LEFT JOIN encodings m ON m.tenant_id = t.tenant_id AND m.fact_id = f.fact_id AND +m.lens IS NOT NULL AND m.known_from <= min(+?8, t.last_known)
WHERE t.name = +?1;

-- name: fact
SELECT {{fact_columns}},
    (SELECT x.memory_id FROM facts x WHERE x.tenant_id = f.tenant_id AND x.fact_id = f.target)
FROM facts f
LEFT JOIN encodings n ON n.tenant_id = f.tenant_id AND n.fact_id = f.fact_id AND n.schema_version = f.schema_version
    AND n.known_from = f.known_from
LEFT JOIN episodes e ON e.tenant_id = f.tenant_id AND e.episode_id = f.episode_id
LEFT JOIN principals p ON p.tenant_id = f.tenant_id AND p.principal_id = f.principal_id
WHERE f.tenant_id = +?1 AND f.fact_id = +?2;

-- name: memory
SELECT fact_id, slot_id FROM facts WHERE tenant_id = +?1 AND memory_id = +?2;

-- name: memory_id
SELECT memory_id FROM facts WHERE tenant_id = +?1 AND fact_id = +?2;

-- name: slot_of_key
SELECT s.slot_id, s.levels
FROM subjects u
CROSS JOIN slots s ON s.tenant_id = u.tenant_id AND s.scope = +?3 AND s.subject_id = u.subject_id
    AND s.attribute_id = +?4 AND s.member = +?5
WHERE u.tenant_id = +?1 AND u.name = +?2;

-- name: segment_at
-- One slot at one point of the plane: see point_segment_known in parts.sql.
WITH RECURSIVE nodes(mask, node) AS (
    SELECT +?3, 0
    UNION ALL
    SELECT mask & (mask - 1), ((+?5 + 62135596800000001) & (-2 * (mask & -mask))) | (mask & -mask) FROM nodes WHERE mask <> 0
)
SELECT g.valid_from, g.valid_to, g.known_from, g.known_to, g.fact_id, g.opened_by, g.closed_by
FROM nodes
CROSS JOIN segments g ON g.tenant_id = +?1 AND g.slot_id = +?2 AND g.node = nodes.node AND g.valid_from = (
    SELECT max(x.valid_from) FROM segments x
    WHERE x.tenant_id = +?1 AND x.slot_id = +?2 AND x.node = nodes.node AND x.valid_from <= +?4)
WHERE g.valid_to > +?4 AND g.known_from <= +?5 AND (g.known_to IS NULL OR g.known_to > +?5)
LIMIT 1;

-- name: timeline_open
SELECT valid_from, valid_to, known_from, known_to, fact_id, opened_by, closed_by FROM segments
WHERE tenant_id = +?1 AND slot_id = +?2 AND node = 0 AND valid_from > +?3
ORDER BY valid_from LIMIT +?4;

-- name: timeline_known
WITH RECURSIVE nodes(mask, node) AS (
    SELECT +?5, 0
    UNION ALL
    SELECT mask & (mask - 1), ((+?6 + 62135596800000001) & (-2 * (mask & -mask))) | (mask & -mask) FROM nodes WHERE mask <> 0
)
SELECT g.valid_from, g.valid_to, g.known_from, g.known_to, g.fact_id, g.opened_by, g.closed_by
FROM nodes
CROSS JOIN segments g ON g.tenant_id = +?1 AND g.slot_id = +?2 AND g.node = nodes.node AND g.valid_from > +?3
WHERE g.known_from <= +?6 AND (g.known_to IS NULL OR g.known_to > +?6)
ORDER BY g.valid_from LIMIT +?4;

-- name: believed
SELECT valid_from, valid_to, known_from, known_to, fact_id, opened_by, closed_by FROM segments
WHERE tenant_id = +?1 AND slot_id = +?2 AND valid_from <= +?3 AND valid_to > +?3 AND known_from > +?4
ORDER BY known_from LIMIT +?5;

-- name: next_scope
SELECT min(scope) FROM slots WHERE tenant_id = +?1 AND scope > +?2;

-- name: slots_of_scope
SELECT slot_id, subject_id, attribute_id, member, levels FROM slots
WHERE tenant_id = +?1 AND scope = +?2 AND (subject_id, attribute_id, member) > (+?3, +?4, +?5)
ORDER BY subject_id, attribute_id, member LIMIT +?6;

-- name: slots_of_subject
SELECT slot_id, subject_id, attribute_id, member, levels FROM slots
WHERE tenant_id = +?1 AND scope = +?2 AND subject_id = +?3 AND (attribute_id, member) > (+?4, +?5)
ORDER BY attribute_id, member LIMIT +?6;

-- name: subject_name
SELECT name FROM subjects WHERE tenant_id = +?1 AND subject_id = +?2;

-- name: history
SELECT fact_id FROM facts WHERE tenant_id = +?1 AND slot_id = +?2 AND fact_id > +?3 ORDER BY fact_id LIMIT +?4;

-- name: displaced
SELECT f.memory_id, x.how, x.valid_from, x.valid_to
FROM supersessions x CROSS JOIN facts f ON f.tenant_id = x.tenant_id AND f.fact_id = x.old_fact
WHERE x.tenant_id = +?1 AND x.slot_id = +?2 AND x.new_fact = +?3
ORDER BY x.valid_from;

-- name: confirmed
SELECT f.memory_id
FROM confirmations c CROSS JOIN facts f ON f.tenant_id = c.tenant_id AND f.fact_id = c.old_fact
WHERE c.tenant_id = +?1 AND c.slot_id = +?2 AND c.new_fact = +?3 AND c.known_from = +?4
ORDER BY c.valid_from;

-- name: fact_before
-- The newest fact at a known time.
SELECT last_fact, seq FROM calls WHERE tenant_id = +?1 AND known_at <= +?2 ORDER BY known_at DESC LIMIT 1;

-- name: touched_by_fact
-- Slots in the order of their first fact in (?4, ?3], after fact ?2.
SELECT f.fact_id, f.slot_id FROM facts f
WHERE f.tenant_id = +?1 AND f.fact_id > +?2 AND f.fact_id <= +?3
    AND (SELECT min(x.fact_id) FROM facts x
         WHERE x.tenant_id = f.tenant_id AND x.slot_id = f.slot_id AND x.fact_id > +?4) = f.fact_id
ORDER BY f.fact_id LIMIT +?5;

-- name: touched_without_fact
-- Slots that calls in (?4, ?3] reached without a fact of their own there, after (?2, ?7).
SELECT r.seq, r.slot_id FROM reached r
WHERE r.tenant_id = +?1 AND (r.seq, r.slot_id) > (+?2, +?7) AND r.seq <= +?3
    AND NOT EXISTS (SELECT 1 FROM facts x
        WHERE x.tenant_id = r.tenant_id AND x.slot_id = r.slot_id AND x.fact_id > +?5 AND x.fact_id <= +?6)
    AND NOT EXISTS (SELECT 1 FROM reached y
        WHERE y.tenant_id = r.tenant_id AND y.seq > +?4 AND y.seq < r.seq AND y.slot_id = r.slot_id)
ORDER BY r.seq, r.slot_id LIMIT +?8;

-- name: episode
SELECT name, kind, source_id, occurred_at, session, thread, sequence, actor, text, CAST(body AS BLOB), CAST(metadata AS BLOB)
FROM episodes WHERE tenant_id = +?1 AND name = +?2;

-- name: outcomes
SELECT o.seq, o.ordinal, c.known_at, o.outcome, coalesce(f.memory_id, o.memory_id), o.code, o.pointer, o.op, o.attribute, p.name
FROM outcomes o
CROSS JOIN calls c ON c.tenant_id = o.tenant_id AND c.seq = o.seq
CROSS JOIN principals p ON p.tenant_id = c.tenant_id AND p.principal_id = c.principal_id
LEFT JOIN facts f ON f.tenant_id = o.tenant_id AND f.fact_id = o.fact_id
WHERE o.tenant_id = +?1 AND (o.seq, o.ordinal) > (+?2, +?3)
ORDER BY o.seq, o.ordinal LIMIT +?4;

-- name: candidates
SELECT seq, ordinal, memory_id, status FROM candidates
WHERE tenant_id = +?1 AND (seq, ordinal) > (+?2, +?3)
ORDER BY seq, ordinal LIMIT +?4;

-- name: slots_in_order
SELECT slot_id FROM slots WHERE tenant_id = +?1 AND slot_id > +?2 ORDER BY slot_id LIMIT +?3;

-- name: all_segments
SELECT valid_from, valid_to, known_from, known_to, fact_id, opened_by, closed_by FROM segments
WHERE tenant_id = +?1 AND slot_id = +?2;

-- name: all_confirmations
SELECT valid_from, valid_to, known_from, known_to, new_fact, old_fact FROM confirmations WHERE tenant_id = +?1 AND slot_id = +?2;

-- name: all_supersessions
SELECT new_fact, old_fact, how, valid_from, valid_to, known_at FROM supersessions WHERE tenant_id = +?1 AND slot_id = +?2;

-- name: all_points
SELECT valid_from, number, facts, live FROM points WHERE tenant_id = +?1 AND slot_id = +?2;

-- name: forms
-- What lenses made of a fact's value, as known at ?3.
SELECT schema_version, CAST(value AS BLOB), lens, known_from, lossy, defaulted FROM encodings
WHERE tenant_id = +?1 AND fact_id = +?2 AND known_from <= +?3 AND +lens IS NOT NULL
ORDER BY known_from, schema_version;

-- name: epoch_at
-- The epoch of an attribute's memory type at ?3.
SELECT t.name, e.known_from, e.read_version, e.write_version, e.second_version
FROM attributes a
CROSS JOIN types t ON t.type_id = a.type_id
CROSS JOIN epochs e ON e.tenant_id = +?1 AND e.type_id = t.type_id AND e.known_from <= +?3
WHERE a.attribute_id = +?2
ORDER BY e.known_from DESC LIMIT 1;

-- name: types_in_order
SELECT type_id, name FROM types ORDER BY name;

-- name: epochs_of_type
SELECT known_from, read_version, write_version, second_version FROM epochs
WHERE tenant_id = +?1 AND type_id = +?2 ORDER BY known_from;

-- name: migrations_of_type
SELECT serial, state, CAST(body AS BLOB), known_at FROM migrations WHERE tenant_id = +?1 AND type_id = +?2 ORDER BY serial;

-- name: values_below
-- The facts numbered in [?3, ?2), from the newest, each with its encodings; the recorded one has no lens.
SELECT f.fact_id, f.memory_id, f.slot_id, f.op, f.schema_version, f.erased, s.subject_id, s.attribute_id, s.scope, s.member,
    n.schema_version, CAST(n.value AS BLOB), n.lens, n.known_from, n.lossy, n.defaulted
FROM facts f
CROSS JOIN slots s ON s.tenant_id = f.tenant_id AND s.slot_id = f.slot_id
CROSS JOIN encodings n ON n.tenant_id = f.tenant_id AND n.fact_id = f.fact_id
WHERE f.tenant_id = +?1 AND f.fact_id < +?2 AND f.fact_id >= +?3
ORDER BY f.fact_id DESC, n.schema_version, n.known_from;

-- name: quarantined_below
SELECT q.fact_id, f.memory_id, f.slot_id, q.rule, q.pointer, q.known_from,
    EXISTS (SELECT 1 FROM segments x WHERE x.tenant_id = q.tenant_id AND x.fact_id = q.fact_id AND x.node = 0)
FROM quarantine q
CROSS JOIN facts f ON f.tenant_id = q.tenant_id AND f.fact_id = q.fact_id
WHERE q.tenant_id = +?1 AND q.schema_version = +?2 AND q.fact_id < +?3
ORDER BY q.fact_id DESC LIMIT +?4;
