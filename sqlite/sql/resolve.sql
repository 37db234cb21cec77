-- What one call names, as it stands under the write lock. The fact columns here are those that the planner sees.

-- name: tenant
SELECT tenant_id, last_known, last_seq, last_fact, next_subject, next_slot, next_episode, next_principal
FROM tenants WHERE name = +?1;

-- name: registry_revision
SELECT {{revision}};

-- name: standing
-- The slot, and the next change-point after an instant: the start of an open segment, or a live point.
SELECT s.slot_id, s.next_number, s.levels,
    (SELECT min(g.valid_from) FROM segments g
     WHERE g.tenant_id = s.tenant_id AND g.slot_id = s.slot_id AND g.node = 0 AND g.valid_from > +?6),
    (SELECT min(p.valid_from) FROM points p
     WHERE p.tenant_id = s.tenant_id AND p.slot_id = s.slot_id AND p.live = 1 AND p.valid_from > +?6)
FROM subjects u
CROSS JOIN slots s ON s.tenant_id = u.tenant_id AND s.scope = +?3 AND s.subject_id = u.subject_id
    AND s.attribute_id = +?4 AND s.member = +?5
WHERE u.tenant_id = +?1 AND u.name = +?2;

-- name: attribute_slots
-- The set slot and every member slot of one attribute of one subject.
SELECT s.slot_id, s.subject_id, s.member, s.levels, s.next_number
FROM subjects u
CROSS JOIN slots s ON s.tenant_id = u.tenant_id AND s.scope = +?3 AND s.subject_id = u.subject_id AND s.attribute_id = +?4
WHERE u.tenant_id = +?1 AND u.name = +?2
ORDER BY s.member;

-- name: open_segments
-- The open segments of a slot that overlap a window.
SELECT g.valid_from, g.valid_to, g.known_from,
    (SELECT min(x.valid_from) FROM segments x WHERE x.tenant_id = g.tenant_id AND x.fact_id = g.fact_id AND x.node = 0),
    (SELECT max(x.valid_from) FROM segments x WHERE x.tenant_id = g.tenant_id AND x.fact_id = g.fact_id AND x.node = 0),
    {{planner_columns}}
FROM segments g
CROSS JOIN facts f ON f.tenant_id = g.tenant_id AND f.fact_id = g.fact_id
LEFT JOIN episodes e ON e.tenant_id = f.tenant_id AND e.episode_id = f.episode_id
WHERE g.tenant_id = +?1 AND g.slot_id = +?2 AND g.node = 0 AND g.valid_from < +?4 AND g.valid_to > +?3
    AND g.valid_from >= coalesce((
        SELECT max(x.valid_from) FROM segments x
        WHERE x.tenant_id = +?1 AND x.slot_id = +?2 AND x.node = 0 AND x.valid_from <= +?3), +?3)
ORDER BY g.valid_from;

-- name: backing
-- The confirmations of one fact whose known interval is open, and whether each overlaps an open segment of the fact
-- outside a window.
SELECT f.confidence, e.kind, c.valid_from, c.valid_to, EXISTS (
    SELECT 1 FROM segments g INDEXED BY segments_open_by_fact
    WHERE g.tenant_id = c.tenant_id AND g.fact_id = c.old_fact AND g.node = 0
        AND g.valid_from < c.valid_to AND g.valid_to > c.valid_from AND (g.valid_to <= +?4 OR g.valid_from >= +?5)
)
FROM confirmations c
CROSS JOIN facts f ON f.tenant_id = c.tenant_id AND f.fact_id = c.new_fact
LEFT JOIN episodes e ON e.tenant_id = f.tenant_id AND e.episode_id = f.episode_id
WHERE c.tenant_id = +?1 AND c.slot_id = +?2 AND c.old_fact = +?3 AND c.known_to IS NULL
ORDER BY c.new_fact, c.valid_from;

-- name: live_points
SELECT valid_from, number, facts FROM points
WHERE tenant_id = +?1 AND slot_id = +?2 AND live = 1 AND valid_from >= +?3 AND valid_from < +?4;

-- name: dead_points_of_number
SELECT valid_from, number, facts FROM points
WHERE tenant_id = +?1 AND slot_id = +?2 AND number = +?5 AND live = 0 AND valid_from >= +?3 AND valid_from < +?4;

-- name: value_number
SELECT number FROM value_numbers WHERE tenant_id = +?1 AND slot_id = +?2 AND digest = +?3;

-- name: episode_ref
SELECT episode_id, kind, occurred_at, digest FROM episodes WHERE tenant_id = +?1 AND name = +?2;

-- name: outcome_by_key
SELECT o.outcome, o.payload, o.fact_id, o.memory_id, o.code, o.assumed, c.known_at, p.name
FROM outcomes o
CROSS JOIN calls c ON c.tenant_id = o.tenant_id AND c.seq = o.seq
CROSS JOIN principals p ON p.tenant_id = c.tenant_id AND p.principal_id = c.principal_id
WHERE o.tenant_id = +?1 AND o.key IS NOT NULL AND o.key = +?2;

-- name: receipt_fact
SELECT f.memory_id, f.slot_id, f.valid_from, f.valid_to, f.reach_to, f.known_from,
    (SELECT x.memory_id FROM facts x WHERE x.tenant_id = f.tenant_id AND x.fact_id = f.supersedes)
FROM facts f WHERE f.tenant_id = +?1 AND f.fact_id = +?2;

-- name: parts
-- The facts that carry a statement about a whole set out: they were recorded right after it, in the same call.
SELECT fact_id, memory_id, slot_id FROM facts
WHERE tenant_id = +?1 AND fact_id > +?2 AND part_of = +?2 AND fact_id <= (
    SELECT c.last_fact FROM calls c WHERE c.tenant_id = +?1 AND c.known_at = +?3)
ORDER BY fact_id;

-- name: slot_key
SELECT s.scope, u.name, s.attribute_id, s.member
FROM slots s CROSS JOIN subjects u ON u.tenant_id = s.tenant_id AND u.subject_id = s.subject_id
WHERE s.tenant_id = +?1 AND s.slot_id = +?2;

-- name: slot_log
SELECT {{planner_columns}}
FROM facts f INDEXED BY facts_by_slot
LEFT JOIN episodes e ON e.tenant_id = f.tenant_id AND e.episode_id = f.episode_id
WHERE f.tenant_id = +?1 AND f.slot_id = +?2
ORDER BY f.fact_id;

-- name: logged_by_memory
SELECT {{planner_columns}}, f.slot_id
FROM facts f LEFT JOIN episodes e ON e.tenant_id = f.tenant_id AND e.episode_id = f.episode_id
WHERE f.tenant_id = +?1 AND f.memory_id = +?2;

-- name: logged_by_number
SELECT {{planner_columns}}, f.slot_id
FROM facts f LEFT JOIN episodes e ON e.tenant_id = f.tenant_id AND e.episode_id = f.episode_id
WHERE f.tenant_id = +?1 AND f.fact_id = +?2;

-- name: logged_by_episode
SELECT {{planner_columns}}, f.slot_id
FROM episodes e
CROSS JOIN facts f INDEXED BY facts_by_episode
    ON f.tenant_id = e.tenant_id AND f.episode_id IS NOT NULL AND f.episode_id = e.episode_id
WHERE e.tenant_id = +?1 AND e.name = +?2;

-- name: logged_by_source
SELECT {{planner_columns}}, f.slot_id
FROM episodes e INDEXED BY episodes_by_source
CROSS JOIN facts f INDEXED BY facts_by_episode
    ON f.tenant_id = e.tenant_id AND f.episode_id IS NOT NULL AND f.episode_id = e.episode_id
WHERE e.tenant_id = +?1 AND e.source_id <> '' AND e.source_id = +?2 AND e.kind = +?3;

-- name: candidate
SELECT c.seq, c.ordinal, c.memory_id, c.status, c.slot_id, e.name, e.kind, e.source_id, CAST(c.delta AS BLOB), p.name,
    l.known_at, c.fact_id
FROM candidates c
CROSS JOIN episodes e ON e.tenant_id = c.tenant_id AND e.episode_id = c.episode_id
CROSS JOIN calls l ON l.tenant_id = c.tenant_id AND l.seq = c.seq
CROSS JOIN principals p ON p.tenant_id = l.tenant_id AND p.principal_id = l.principal_id
WHERE c.tenant_id = +?1 AND c.memory_id = +?2;

-- name: lost_to
SELECT f.memory_id
FROM lost_to l CROSS JOIN facts f ON f.tenant_id = l.tenant_id AND f.fact_id = l.fact_id
WHERE l.tenant_id = +?1 AND l.seq = +?2 AND l.ordinal = +?3
ORDER BY l.position;

-- name: candidates_of_episode
SELECT c.seq, c.ordinal, c.memory_id
FROM episodes e CROSS JOIN candidates c INDEXED BY candidates_by_episode
    ON c.tenant_id = e.tenant_id AND c.episode_id = e.episode_id
WHERE e.tenant_id = +?1 AND e.name = +?2;

-- name: candidates_of_source
SELECT c.seq, c.ordinal, c.memory_id
FROM episodes e INDEXED BY episodes_by_source CROSS JOIN candidates c INDEXED BY candidates_by_episode
    ON c.tenant_id = e.tenant_id AND c.episode_id = e.episode_id
WHERE e.tenant_id = +?1 AND e.source_id <> '' AND e.source_id = +?2 AND e.kind = +?3;

-- name: disputed_by_fact
SELECT c.seq, c.ordinal, c.memory_id
FROM lost_to l CROSS JOIN candidates c ON c.tenant_id = l.tenant_id AND c.seq = l.seq AND c.ordinal = l.ordinal
WHERE l.tenant_id = +?1 AND l.fact_id = +?2 AND c.status = 'disputed';

-- name: newest_epoch
SELECT e.known_from, e.read_version, e.write_version, e.second_version
FROM types t CROSS JOIN epochs e ON e.tenant_id = +?1 AND e.type_id = t.type_id
WHERE t.name = +?2
ORDER BY e.known_from DESC LIMIT 1;

-- name: newest_migration
SELECT m.serial, m.state, CAST(m.body AS BLOB)
FROM types t CROSS JOIN migrations m ON m.tenant_id = +?1 AND m.type_id = t.type_id
WHERE t.name = +?2
ORDER BY m.serial DESC LIMIT 1;
