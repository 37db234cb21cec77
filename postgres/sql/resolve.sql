-- What one call names, as it stands under the write lock. Statements about slots take the tenant, subject, scope and
-- attribute as $1 to $4; those about a range of members take its ends as $5 and $6. Subqueries have OFFSET 0 for the
-- reason given in read.sql.

-- name: registry_revision
SELECT r.revision FROM sgam.registry r;

-- name: hold_registry
-- Nobody registers until the transaction ends.
SELECT r.revision FROM sgam.registry r FOR SHARE;

-- name: principals
SELECT p.name, p.principal_id
FROM (SELECT DISTINCT unnest($2::text[]) AS name) k
CROSS JOIN LATERAL (
    SELECT p.* FROM sgam.principals p
    WHERE p.tenant_id = $1 AND p.name = k.name OFFSET 0) p;

-- name: episode_refs
SELECT e.name, e.episode_id, e.kind, e.occurred_at, e.digest
FROM (SELECT DISTINCT unnest($2::text[]) AS name) k
CROSS JOIN LATERAL (
    SELECT e.* FROM sgam.episodes e
    WHERE e.tenant_id = $1 AND e.name = k.name OFFSET 0) e;

-- name: slot
SELECT u.subject_id, s.slot_id, s.next_number, s.levels
FROM sgam.subjects u
LEFT JOIN LATERAL ({{slot_of_key}}) s ON true
WHERE u.tenant_id = $1 AND u.name = $2;

-- name: standing
-- The slot, and the next change-point after $6: the start of an open segment, or a live point.
SELECT u.subject_id, s.slot_id, s.next_number, s.levels, g.starts, p.starts
FROM sgam.subjects u
LEFT JOIN LATERAL ({{slot_of_key}}) s ON true
LEFT JOIN LATERAL (
    SELECT min(x.valid_from) AS starts FROM sgam.segments x
    WHERE x.tenant_id = $1 AND x.slot_id = s.slot_id AND x.node = 0 AND x.valid_from > $6) g ON true
LEFT JOIN LATERAL (
    SELECT min(x.valid_from) AS starts FROM sgam.points x
    WHERE x.tenant_id = $1 AND x.slot_id = s.slot_id AND x.live AND x.facts > 0 AND x.valid_from > $6) p ON true
WHERE u.tenant_id = $1 AND u.name = $2;

-- name: member_standings
-- The same of the members that have an open segment.
SELECT s.member, s.slot_id, s.next_number, s.levels, g.starts, p.starts
FROM sgam.subjects u
CROSS JOIN LATERAL ({{slots_of_members}}) s
LEFT JOIN LATERAL (
    SELECT min(x.valid_from) AS starts FROM sgam.segments x
    WHERE x.tenant_id = $1 AND x.slot_id = s.slot_id AND x.node = 0 AND x.valid_from > $7) g ON true
LEFT JOIN LATERAL (
    SELECT min(x.valid_from) AS starts FROM sgam.points x
    WHERE x.tenant_id = $1 AND x.slot_id = s.slot_id AND x.live AND x.facts > 0 AND x.valid_from > $7) p ON true
WHERE u.tenant_id = $1 AND u.name = $2 AND EXISTS (
    SELECT 1 FROM sgam.segments x WHERE x.tenant_id = $1 AND x.slot_id = s.slot_id AND x.node = 0)
ORDER BY s.member;

-- name: open_segments
-- The open segments that overlap the window from $7 to $8.
SELECT s.member, g.valid_from, g.valid_to, g.known_from, {{open_columns}}
FROM sgam.subjects u
CROSS JOIN LATERAL ({{slots_of_members}}) s
CROSS JOIN LATERAL (
    (SELECT x.* FROM sgam.segments x
     WHERE x.tenant_id = $1 AND x.slot_id = s.slot_id AND x.node = 0 AND x.valid_from <= $7
     ORDER BY x.valid_from DESC LIMIT 1)
    UNION ALL
    SELECT x.* FROM sgam.segments x
    WHERE x.tenant_id = $1 AND x.slot_id = s.slot_id AND x.node = 0 AND x.valid_from > $7 AND x.valid_from < $8) g
CROSS JOIN LATERAL ({{fact_of_segment}}) f
LEFT JOIN LATERAL ({{episode_of_fact}}) e ON true
WHERE u.tenant_id = $1 AND u.name = $2 AND g.valid_to > $7
ORDER BY s.member, g.valid_from;

-- name: backing
-- The confirmations of the facts of those segments whose known interval is open, and whether each overlaps an open segment
-- of the fact outside the window. With $9 the window ends at the next change-point.
SELECT s.member, g.valid_from, f.confidence, e.kind, c.valid_from, c.valid_to, EXISTS (
    SELECT 1 FROM sgam.segments x
    WHERE x.tenant_id = $1 AND x.fact_id = c.old_fact AND x.known_to IS NULL
        AND x.valid_from < c.valid_to AND x.valid_to > c.valid_from AND (x.valid_to <= $7 OR x.valid_from >= w.ends))
FROM sgam.subjects u
CROSS JOIN LATERAL ({{slots_of_members}}) s
CROSS JOIN LATERAL (
    SELECT CASE WHEN $9::boolean THEN least($8::bigint,
        (SELECT min(x.valid_from) FROM sgam.segments x
         WHERE x.tenant_id = $1 AND x.slot_id = s.slot_id AND x.node = 0 AND x.valid_from > $7),
        (SELECT min(x.valid_from) FROM sgam.points x
         WHERE x.tenant_id = $1 AND x.slot_id = s.slot_id AND x.live AND x.facts > 0 AND x.valid_from > $7))
    ELSE $8 END AS ends) w
CROSS JOIN LATERAL (
    (SELECT x.* FROM sgam.segments x
     WHERE x.tenant_id = $1 AND x.slot_id = s.slot_id AND x.node = 0 AND x.valid_from <= $7
     ORDER BY x.valid_from DESC LIMIT 1)
    UNION ALL
    SELECT x.* FROM sgam.segments x
    WHERE x.tenant_id = $1 AND x.slot_id = s.slot_id AND x.node = 0 AND x.valid_from > $7 AND x.valid_from < w.ends) g
CROSS JOIN LATERAL (
    SELECT c.* FROM sgam.confirmations c
    WHERE c.tenant_id = $1 AND c.slot_id = s.slot_id AND c.old_fact = g.fact_id AND c.known_to IS NULL OFFSET 0) c
CROSS JOIN LATERAL (
    SELECT f.* FROM sgam.facts f
    WHERE f.tenant_id = $1 AND f.fact_id = c.new_fact OFFSET 0) f
LEFT JOIN LATERAL ({{episode_of_fact}}) e ON true
WHERE u.tenant_id = $1 AND u.name = $2 AND g.valid_to > $7
ORDER BY s.member, g.valid_from, c.new_fact, c.valid_from;

-- name: points
-- The live points in the window from $7 to $8, and the dead ones of absence and of the values with the digests $9.
SELECT s.member, p.valid_from, p.number, p.facts
FROM sgam.subjects u
CROSS JOIN LATERAL ({{slots_of_members}}) s
CROSS JOIN LATERAL (
    SELECT x.valid_from, x.number, x.facts FROM sgam.points x
    WHERE x.tenant_id = $1 AND x.slot_id = s.slot_id AND x.live AND x.facts > 0 AND x.valid_from >= $7 AND x.valid_from < $8
    UNION ALL
    SELECT x.valid_from, x.number, x.facts
    FROM (
        SELECT 0::bigint AS number
        UNION
        SELECT v.number
        FROM unnest($9::bytea[]) AS k(digest)
        CROSS JOIN LATERAL (
            SELECT v.* FROM sgam.value_numbers v
            WHERE v.tenant_id = $1 AND v.slot_id = s.slot_id AND v.digest = k.digest OFFSET 0) v
    ) n
    CROSS JOIN LATERAL (
        SELECT x.* FROM sgam.points x
        WHERE x.tenant_id = $1 AND x.slot_id = s.slot_id AND x.number = n.number AND NOT x.live AND x.facts > 0
        AND x.valid_from >= $7 AND x.valid_from < $8 OFFSET 0) x
) p
WHERE u.tenant_id = $1 AND u.name = $2;

-- name: numbers
SELECT v.digest, v.number
FROM sgam.subjects u
CROSS JOIN LATERAL ({{slot_of_key}}) s
CROSS JOIN (SELECT DISTINCT unnest($6::bytea[]) AS digest) k
CROSS JOIN LATERAL (
    SELECT v.* FROM sgam.value_numbers v
    WHERE v.tenant_id = $1 AND v.slot_id = s.slot_id AND v.digest = k.digest OFFSET 0) v
WHERE u.tenant_id = $1 AND u.name = $2;

-- name: outcomes_by_key
-- With what became of a candidate, and the memory ids that it had lost to, one after the other.
SELECT o.key, o.outcome, o.payload, o.fact_id, o.memory_id, o.code, o.assumed, c.known_at, p.name, h.status, h.fact_id, (
    SELECT string_agg(f.memory_id, ''::bytea ORDER BY l.position)
    FROM sgam.lost_to l CROSS JOIN LATERAL (
        SELECT f.* FROM sgam.facts f WHERE f.tenant_id = $1 AND f.fact_id = l.fact_id OFFSET 0) f
    WHERE l.tenant_id = $1 AND l.seq = h.seq AND l.ordinal = h.ordinal)
FROM (SELECT DISTINCT unnest($2::bytea[]) AS key) k
CROSS JOIN LATERAL (
    SELECT o.* FROM sgam.outcomes o
    WHERE o.tenant_id = $1 AND o.key IS NOT NULL AND o.key = k.key OFFSET 0) o
CROSS JOIN LATERAL ({{call_of_outcome}}) c
CROSS JOIN LATERAL ({{principal_of_call}}) p
LEFT JOIN LATERAL (
    SELECT h.* FROM sgam.candidates h
    WHERE h.tenant_id = $1 AND h.memory_id = o.memory_id AND o.fact_id IS NULL OFFSET 0) h ON true;

-- name: receipt_facts
-- Facts, each followed by those that carry it out for the members of a set: they were recorded right after it, in the same
-- call.
SELECT r.fact_id, f.fact_id, f.memory_id, f.valid_from, f.valid_to, f.reach_to, f.known_from,
    (SELECT x.memory_id FROM sgam.facts x WHERE x.tenant_id = $1 AND x.fact_id = f.supersedes)
FROM (SELECT DISTINCT unnest($2::bigint[]) AS fact_id) k
CROSS JOIN LATERAL (
    SELECT r.* FROM sgam.facts r
    WHERE r.tenant_id = $1 AND r.fact_id = k.fact_id OFFSET 0) r
CROSS JOIN LATERAL (
    SELECT c.* FROM sgam.calls c
    WHERE c.tenant_id = $1 AND c.known_at = r.known_from OFFSET 0) c
CROSS JOIN LATERAL (
    SELECT f.* FROM sgam.facts f
    WHERE f.tenant_id = $1 AND f.fact_id >= r.fact_id AND f.fact_id <= c.last_fact
    AND (f.fact_id = r.fact_id OR f.part_of = r.fact_id) OFFSET 0) f
ORDER BY r.fact_id, f.fact_id;

-- name: displaced
-- The regions that other facts of the slot lost to facts.
SELECT n.fact_id, f.memory_id, x.how, x.valid_from, x.valid_to
FROM (SELECT DISTINCT unnest($2::bigint[]) AS fact_id) k
CROSS JOIN LATERAL (
    SELECT n.* FROM sgam.facts n
    WHERE n.tenant_id = $1 AND n.fact_id = k.fact_id OFFSET 0) n
CROSS JOIN LATERAL (
    SELECT x.* FROM sgam.supersessions x
    WHERE x.tenant_id = $1 AND x.slot_id = n.slot_id AND x.new_fact = n.fact_id OFFSET 0) x
CROSS JOIN LATERAL (
    SELECT f.* FROM sgam.facts f
    WHERE f.tenant_id = $1 AND f.fact_id = x.old_fact OFFSET 0) f
ORDER BY n.fact_id, x.valid_from;

-- name: confirmed
-- The facts of the slot that already said the same when facts were recorded.
SELECT n.fact_id, f.memory_id
FROM (SELECT DISTINCT unnest($2::bigint[]) AS fact_id) k
CROSS JOIN LATERAL (
    SELECT n.* FROM sgam.facts n
    WHERE n.tenant_id = $1 AND n.fact_id = k.fact_id OFFSET 0) n
CROSS JOIN LATERAL (
    SELECT c.* FROM sgam.confirmations c
    WHERE c.tenant_id = $1 AND c.slot_id = n.slot_id AND c.new_fact = n.fact_id AND c.known_from = n.known_from OFFSET 0) c
CROSS JOIN LATERAL (
    SELECT f.* FROM sgam.facts f
    WHERE f.tenant_id = $1 AND f.fact_id = c.old_fact OFFSET 0) f
ORDER BY n.fact_id, c.valid_from;

-- name: logged_by_memory
SELECT s.slot_id, s.scope, u.name, s.attribute_id, s.member, {{planner_columns}}
FROM sgam.facts f
CROSS JOIN LATERAL ({{slot_of_fact}}) s
CROSS JOIN LATERAL ({{subject_of_slot}}) u
LEFT JOIN LATERAL ({{episode_of_fact}}) e ON true
WHERE f.tenant_id = $1 AND f.memory_id = $2;

-- name: logged_by_number
SELECT s.slot_id, s.scope, u.name, s.attribute_id, s.member, {{planner_columns}}
FROM (SELECT DISTINCT unnest($2::bigint[]) AS fact_id) k
CROSS JOIN LATERAL (
    SELECT f.* FROM sgam.facts f
    WHERE f.tenant_id = $1 AND f.fact_id = k.fact_id OFFSET 0) f
CROSS JOIN LATERAL ({{slot_of_fact}}) s
CROSS JOIN LATERAL ({{subject_of_slot}}) u
LEFT JOIN LATERAL ({{episode_of_fact}}) e ON true
ORDER BY f.fact_id;

-- name: logged_by_episode
SELECT s.slot_id, s.scope, u.name, s.attribute_id, s.member, {{planner_columns}}
FROM sgam.episodes e
CROSS JOIN LATERAL (
    SELECT f.* FROM sgam.facts f
    WHERE f.tenant_id = $1 AND f.episode_id = e.episode_id OFFSET 0) f
CROSS JOIN LATERAL ({{slot_of_fact}}) s
CROSS JOIN LATERAL ({{subject_of_slot}}) u
WHERE e.tenant_id = $1 AND e.name = $2
ORDER BY f.fact_id;

-- name: logged_by_source
SELECT s.slot_id, s.scope, u.name, s.attribute_id, s.member, {{planner_columns}}
FROM sgam.episodes e
CROSS JOIN LATERAL (
    SELECT f.* FROM sgam.facts f
    WHERE f.tenant_id = $1 AND f.episode_id = e.episode_id OFFSET 0) f
CROSS JOIN LATERAL ({{slot_of_fact}}) s
CROSS JOIN LATERAL ({{subject_of_slot}}) u
WHERE e.tenant_id = $1 AND e.source_id <> '' AND e.source_id = $2 AND e.kind = $3
ORDER BY f.fact_id;

-- name: slots_around
-- Slots, and for a set slot its members. A member comes with its set slot.
SELECT DISTINCT t.slot_id, t.scope, u.name, t.attribute_id, t.member, t.next_number, t.levels, z.slot_id
FROM (SELECT DISTINCT unnest($2::bigint[]) AS slot_id) k
CROSS JOIN LATERAL (
    SELECT a.* FROM sgam.slots a
    WHERE a.tenant_id = $1 AND a.slot_id = k.slot_id OFFSET 0) a
CROSS JOIN LATERAL (
    SELECT t.* FROM sgam.slots t
    WHERE t.tenant_id = $1 AND t.scope = a.scope AND t.subject_id = a.subject_id AND t.attribute_id = a.attribute_id
    AND (t.member = a.member OR a.member = '') OFFSET 0) t
CROSS JOIN LATERAL (
    SELECT u.* FROM sgam.subjects u
    WHERE u.tenant_id = $1 AND u.subject_id = t.subject_id OFFSET 0) u
LEFT JOIN LATERAL (
    SELECT z.* FROM sgam.slots z
    WHERE z.tenant_id = $1 AND z.scope = t.scope AND z.subject_id = t.subject_id
    AND z.attribute_id = t.attribute_id AND z.member = '' AND t.member <> '' OFFSET 0) z ON true;

-- name: facts_of_slots
SELECT f.slot_id, {{planner_columns}}
FROM (SELECT DISTINCT unnest($2::bigint[]) AS slot_id) k
CROSS JOIN LATERAL (
    SELECT f.* FROM sgam.facts f
    WHERE f.tenant_id = $1 AND f.slot_id = k.slot_id AND f.slot_id > 0 OFFSET 0) f
LEFT JOIN LATERAL ({{episode_of_fact}}) e ON true
ORDER BY f.slot_id, f.fact_id;

-- name: open_of_slots
SELECT g.slot_id, g.valid_from, g.valid_to, g.known_from, {{open_columns}}
FROM (SELECT DISTINCT unnest($2::bigint[]) AS slot_id) k
CROSS JOIN LATERAL (
    SELECT g.* FROM sgam.segments g
    WHERE g.tenant_id = $1 AND g.slot_id = k.slot_id AND g.node = 0 OFFSET 0) g
CROSS JOIN LATERAL ({{fact_of_segment}}) f
LEFT JOIN LATERAL ({{episode_of_fact}}) e ON true
ORDER BY g.slot_id, g.valid_from;

-- name: held_by_selection
-- The candidates of an episode $2, of a source $3 of kind $4, and the disputed ones that had lost to the facts $5.
SELECT DISTINCT c.memory_id, c.seq, c.ordinal
FROM (
    SELECT h.memory_id, h.seq, h.ordinal
    FROM sgam.episodes e CROSS JOIN LATERAL (
        SELECT h.* FROM sgam.candidates h WHERE h.tenant_id = $1 AND h.episode_id = e.episode_id OFFSET 0) h
    WHERE e.tenant_id = $1 AND $2 <> '' AND e.name = $2
    UNION ALL
    SELECT h.memory_id, h.seq, h.ordinal
    FROM sgam.episodes e CROSS JOIN LATERAL (
        SELECT h.* FROM sgam.candidates h WHERE h.tenant_id = $1 AND h.episode_id = e.episode_id OFFSET 0) h
    WHERE e.tenant_id = $1 AND e.source_id <> '' AND e.source_id = $3 AND e.kind = $4
    UNION ALL
    SELECT h.memory_id, h.seq, h.ordinal
    FROM unnest($5::bigint[]) AS k(fact_id) CROSS JOIN LATERAL (
        SELECT l.* FROM sgam.lost_to l WHERE l.tenant_id = $1 AND l.fact_id = k.fact_id OFFSET 0) l
    CROSS JOIN LATERAL (
        SELECT h.* FROM sgam.candidates h WHERE h.tenant_id = $1 AND h.seq = l.seq AND h.ordinal = l.ordinal OFFSET 0) h
    WHERE h.status = 'disputed'
) c
ORDER BY c.seq, c.ordinal;

-- name: candidates_by_memory
SELECT {{candidate_columns}}
FROM (SELECT DISTINCT unnest($2::bytea[]) AS memory_id) k
CROSS JOIN LATERAL (
    SELECT c.* FROM sgam.candidates c
    WHERE c.tenant_id = $1 AND c.memory_id = k.memory_id OFFSET 0) c
{{candidate_joins}}
ORDER BY c.seq, c.ordinal;

-- name: newest_epochs
SELECT t.name, e.known_from, e.read_version, e.write_version, e.second_version
FROM sgam.types t
CROSS JOIN LATERAL (
    SELECT x.known_from, x.read_version, x.write_version, x.second_version FROM sgam.epochs x
    WHERE x.tenant_id = $1 AND x.type_id = t.type_id
    ORDER BY x.known_from DESC LIMIT 1) e
WHERE t.name = ANY ($2::text[]);

-- name: newest_migration
SELECT m.serial, m.state, m.body
FROM sgam.types t CROSS JOIN LATERAL (
        SELECT m.* FROM sgam.migrations m WHERE m.tenant_id = $1 AND m.type_id = t.type_id OFFSET 0) m
WHERE t.name = $2
ORDER BY m.serial DESC LIMIT 1;
