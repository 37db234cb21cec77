-- The read path. Where the answer depends on known time, the last parameter are the nodes of the tree of known times at
-- which a segment known then can be: 0, where the open ones are, and one for each level, of which those count that occur
-- in the slot.
--
-- Each table is looked into through a lateral subquery with OFFSET 0, in the order in which they are written. The planner
-- cannot turn that into joins, for which it needs statistics: a ledger begins empty, and a plan that was made then would
-- walk over a whole tenant for each row until the statistics catch up.
--
-- What stands in {{ }} is in parts.sql.

-- name: clock
SELECT t.last_known, t.last_seq, t.last_fact, (SELECT r.revision FROM sgam.registry r) FROM sgam.tenants t WHERE t.tenant_id = $1;

-- name: point
-- What was believed at $8 about an instant: the later of $6 and the last commit, or $6 itself when $7 is the beginning of
-- time. It is one statement because it is the read that an agent does most.
SELECT t.last_known, (SELECT r.revision FROM sgam.registry r), s.valid_from, s.valid_to, s.known_from, s.fact_id,
    {{fact_columns}}
FROM sgam.tenants t
LEFT JOIN LATERAL (
    SELECT g.valid_from, g.valid_to, g.known_from, g.fact_id
    FROM sgam.subjects u
    CROSS JOIN LATERAL ({{slot_of_key}}) s
    CROSS JOIN LATERAL (
        SELECT c.valid_from, c.valid_to, c.known_from, c.known_to, c.fact_id, c.opened_by, c.closed_by
        FROM unnest($9::bigint[]) AS k(node)
        CROSS JOIN LATERAL (
            SELECT x.valid_from, x.valid_to, x.known_from, x.known_to, x.fact_id, x.opened_by, x.closed_by
            FROM sgam.segments x
            WHERE x.tenant_id = $1 AND x.slot_id = s.slot_id AND x.node = k.node
                AND x.valid_from <= greatest($6, least($7, t.last_known))
            ORDER BY x.valid_from DESC LIMIT 1) c
        WHERE (k.node = 0 OR s.levels & (k.node & -k.node) <> 0)
            AND c.valid_to > greatest($6, least($7, t.last_known)) AND c.known_from <= least($8, t.last_known)
            AND (c.known_to IS NULL OR c.known_to > least($8, t.last_known))
        LIMIT 1) g
    WHERE u.tenant_id = $1 AND u.name = $2
) s ON true
LEFT JOIN LATERAL (
    SELECT f.* FROM sgam.facts f
    WHERE f.tenant_id = $1 AND f.fact_id = s.fact_id OFFSET 0) f ON true
{{fact_joins}}
WHERE t.tenant_id = $1;

-- name: members
-- The set slot $2 to $4 and its members after the member $5, at the valid time $6 and the known time $7.
SELECT {{listed_columns}}
FROM sgam.subjects u
CROSS JOIN LATERAL (
    SELECT s.* FROM sgam.slots s
    WHERE s.tenant_id = $1 AND s.scope = $3 AND s.subject_id = u.subject_id AND s.attribute_id = $4 AND (s.member > $5 OR $8) OFFSET 0) s
CROSS JOIN LATERAL ({{segment_at}}) g
CROSS JOIN LATERAL ({{fact_of_segment}}) f
{{fact_joins}}
WHERE u.tenant_id = $1 AND u.name = $2
ORDER BY s.member LIMIT $9;

-- name: facts_of_scope
-- What is believed in a scope $2 after the slot $3 to $5, at the valid time $6 and the known time $7.
SELECT {{listed_columns}}
FROM sgam.slots s
CROSS JOIN LATERAL ({{subject_of_slot}}) u
CROSS JOIN LATERAL ({{segment_at}}) g
CROSS JOIN LATERAL ({{fact_of_segment}}) f
{{fact_joins}}
WHERE s.tenant_id = $1 AND s.scope = $2 AND (s.subject_id, s.attribute_id, s.member) > ($3, $4, $5)
    AND ($8::bigint[] IS NULL OR s.attribute_id = ANY ($8))
ORDER BY s.subject_id, s.attribute_id, s.member LIMIT $9;

-- name: facts_of_subjects
-- The same of the subjects $11.
SELECT {{listed_columns}}
FROM (SELECT DISTINCT unnest($11::text[]) AS name) k
CROSS JOIN LATERAL (
    SELECT u.* FROM sgam.subjects u
    WHERE u.tenant_id = $1 AND u.name = k.name OFFSET 0) u
CROSS JOIN LATERAL (
    SELECT s.* FROM sgam.slots s
    WHERE s.tenant_id = $1 AND s.scope = $2 AND s.subject_id = u.subject_id OFFSET 0) s
CROSS JOIN LATERAL ({{segment_at}}) g
CROSS JOIN LATERAL ({{fact_of_segment}}) f
{{fact_joins}}
WHERE (s.subject_id, s.attribute_id, s.member) > ($3, $4, $5)
    AND ($8::bigint[] IS NULL OR s.attribute_id = ANY ($8))
ORDER BY s.subject_id, s.attribute_id, s.member LIMIT $9;

-- name: scopes
-- The scopes from $2 on, one seek for each.
WITH RECURSIVE found(scope) AS (
    (SELECT s.scope FROM sgam.slots s WHERE s.tenant_id = $1 AND s.scope >= $2 ORDER BY s.scope LIMIT 1)
    UNION ALL
    SELECT (SELECT s.scope FROM sgam.slots s WHERE s.tenant_id = $1 AND s.scope > found.scope ORDER BY s.scope LIMIT 1)
    FROM found WHERE found.scope IS NOT NULL
)
SELECT found.scope FROM found WHERE found.scope IS NOT NULL LIMIT $3;

-- name: timeline
-- The segments of a slot that start after $6, as known at $7.
SELECT {{listed_columns}}
FROM sgam.subjects u
CROSS JOIN LATERAL ({{slot_of_key}}) s
JOIN unnest($9::bigint[]) AS k(node) ON k.node = 0 OR s.levels & (k.node & -k.node) <> 0
CROSS JOIN LATERAL (
    SELECT g.* FROM sgam.segments g
    WHERE g.tenant_id = $1 AND g.slot_id = s.slot_id AND g.node = k.node AND g.valid_from > $6
    AND g.known_from <= $7 AND (g.known_to IS NULL OR g.known_to > $7) OFFSET 0) g
CROSS JOIN LATERAL ({{fact_of_segment}}) f
{{fact_joins}}
WHERE u.tenant_id = $1 AND u.name = $2
ORDER BY g.valid_from LIMIT $8;

-- name: believed
-- The segments of a slot that ever covered $6, known after $7.
SELECT {{listed_columns}}
FROM sgam.subjects u
CROSS JOIN LATERAL ({{slot_of_key}}) s
CROSS JOIN LATERAL (
    SELECT g.* FROM sgam.segments g
    WHERE g.tenant_id = $1 AND g.slot_id = s.slot_id AND g.valid_from <= $6 AND g.valid_to > $6 AND g.known_from > $7 OFFSET 0) g
CROSS JOIN LATERAL ({{fact_of_segment}}) f
{{fact_joins}}
WHERE u.tenant_id = $1 AND u.name = $2
ORDER BY g.known_from LIMIT $8;

-- name: history
-- The facts of a slot after $6, and what a withdrawal takes back.
SELECT s.scope, u.name, s.attribute_id, s.member, f.fact_id, {{fact_columns}},
    (SELECT x.memory_id FROM sgam.facts x WHERE x.tenant_id = $1 AND x.fact_id = f.target)
FROM sgam.subjects u
CROSS JOIN LATERAL ({{slot_of_key}}) s
CROSS JOIN LATERAL (
    SELECT f.* FROM sgam.facts f
    WHERE f.tenant_id = $1 AND f.slot_id = s.slot_id AND f.slot_id > 0 AND f.fact_id > $6 OFFSET 0) f
{{fact_joins}}
WHERE u.tenant_id = $1 AND u.name = $2
ORDER BY f.fact_id LIMIT $7;

-- name: memory
SELECT s.scope, u.name, s.attribute_id, s.member, f.fact_id, {{fact_columns}},
    (SELECT x.memory_id FROM sgam.facts x WHERE x.tenant_id = $1 AND x.fact_id = f.target)
FROM sgam.facts f
CROSS JOIN LATERAL ({{slot_of_fact}}) s
CROSS JOIN LATERAL ({{subject_of_slot}}) u
{{fact_joins}}
WHERE f.tenant_id = $1 AND f.memory_id = $2;

-- name: log_position
-- The newest fact and call at a known time.
SELECT c.last_fact, c.seq FROM sgam.calls c WHERE c.tenant_id = $1 AND c.known_at <= $2 ORDER BY c.known_at DESC LIMIT 1;

-- name: touched_by_fact
-- Slots in the order of their first fact in ($4, $3], after fact $2.
SELECT f.fact_id, s.scope, u.name, s.attribute_id, s.member
FROM sgam.facts f
CROSS JOIN LATERAL ({{slot_of_fact}}) s
CROSS JOIN LATERAL ({{subject_of_slot}}) u
WHERE f.tenant_id = $1 AND f.fact_id > $2 AND f.fact_id <= $3
    AND (SELECT min(x.fact_id) FROM sgam.facts x
         WHERE x.tenant_id = $1 AND x.slot_id = f.slot_id AND x.slot_id > 0 AND x.fact_id > $4) = f.fact_id
    AND ($6::text[] IS NULL OR u.name = ANY ($6)) AND ($7::bigint[] IS NULL OR s.attribute_id = ANY ($7))
    AND ($8::text[] IS NULL OR s.scope = ANY ($8))
ORDER BY f.fact_id LIMIT $5;

-- name: touched_without_fact
-- Slots that calls up to $3 reached, after the call $2 and slot $4, without a fact in ($5, $6] of their own there, and that
-- no call after $7 had reached before.
SELECT r.seq, r.slot_id, s.scope, u.name, s.attribute_id, s.member
FROM sgam.reached r
CROSS JOIN LATERAL (
    SELECT s.* FROM sgam.slots s
    WHERE s.tenant_id = $1 AND s.slot_id = r.slot_id OFFSET 0) s
CROSS JOIN LATERAL ({{subject_of_slot}}) u
WHERE r.tenant_id = $1 AND (r.seq, r.slot_id) > ($2, $4) AND r.seq <= $3
    AND NOT EXISTS (SELECT 1 FROM sgam.facts x
        WHERE x.tenant_id = $1 AND x.slot_id = r.slot_id AND x.slot_id > 0 AND x.fact_id > $5 AND x.fact_id <= $6)
    AND NOT EXISTS (SELECT 1 FROM sgam.reached y
        WHERE y.tenant_id = $1 AND y.seq > $7 AND y.seq < r.seq AND y.slot_id = r.slot_id)
    AND ($9::text[] IS NULL OR u.name = ANY ($9)) AND ($10::bigint[] IS NULL OR s.attribute_id = ANY ($10))
    AND ($11::text[] IS NULL OR s.scope = ANY ($11))
ORDER BY r.seq, r.slot_id LIMIT $8;

-- name: episode
SELECT e.name, e.kind, e.source_id, e.occurred_at, e.session, e.thread, e.sequence, e.actor, e.text, e.body, e.metadata
FROM sgam.episodes e WHERE e.tenant_id = $1 AND e.name = $2;

-- name: outcomes
SELECT o.seq, o.ordinal, c.known_at, o.outcome, coalesce(f.memory_id, o.memory_id), o.code, o.pointer, o.op, o.attribute, p.name
FROM sgam.outcomes o
CROSS JOIN LATERAL ({{call_of_outcome}}) c
CROSS JOIN LATERAL ({{principal_of_call}}) p
LEFT JOIN LATERAL ({{fact_of_outcome}}) f ON true
WHERE o.tenant_id = $1 AND (o.seq, o.ordinal) > ($2, $3) AND ($5::text[] IS NULL OR o.outcome = ANY ($5))
ORDER BY o.seq, o.ordinal LIMIT $4;

-- name: candidates
SELECT {{candidate_columns}}
FROM sgam.candidates c
{{candidate_joins}}
WHERE c.tenant_id = $1 AND (c.seq, c.ordinal) > ($2, $3) AND ($5::text[] IS NULL OR c.status = ANY ($5))
ORDER BY c.seq, c.ordinal LIMIT $4;

-- name: slots_in_order
SELECT s.slot_id, s.scope, u.name, s.attribute_id, s.member, z.slot_id
FROM sgam.slots s
CROSS JOIN LATERAL ({{subject_of_slot}}) u
LEFT JOIN LATERAL (
    SELECT z.* FROM sgam.slots z
    WHERE z.tenant_id = $1 AND z.scope = s.scope AND z.subject_id = s.subject_id
    AND z.attribute_id = s.attribute_id AND z.member = '' AND s.member <> '' OFFSET 0) z ON true
WHERE s.tenant_id = $1 AND s.slot_id > $2
ORDER BY s.slot_id LIMIT $3;

-- name: segments_of_slots
SELECT g.slot_id, g.valid_from, g.valid_to, g.known_from, g.known_to, g.fact_id, g.opened_by, g.closed_by
FROM (SELECT DISTINCT unnest($2::bigint[]) AS slot_id) k
CROSS JOIN LATERAL (
    SELECT g.* FROM sgam.segments g
    WHERE g.tenant_id = $1 AND g.slot_id = k.slot_id OFFSET 0) g
ORDER BY g.slot_id, g.node, g.valid_from;

-- name: confirmations_of_slots
SELECT c.slot_id, c.valid_from, c.valid_to, c.known_from, c.known_to, c.new_fact, c.old_fact
FROM (SELECT DISTINCT unnest($2::bigint[]) AS slot_id) k
CROSS JOIN LATERAL (
    SELECT c.* FROM sgam.confirmations c
    WHERE c.tenant_id = $1 AND c.slot_id = k.slot_id OFFSET 0) c
ORDER BY c.slot_id, c.old_fact, c.new_fact, c.valid_from, c.known_from;

-- name: supersessions_of_slots
SELECT x.slot_id, x.new_fact, x.old_fact, x.how, x.valid_from, x.valid_to, x.known_at
FROM (SELECT DISTINCT unnest($2::bigint[]) AS slot_id) k
CROSS JOIN LATERAL (
    SELECT x.* FROM sgam.supersessions x
    WHERE x.tenant_id = $1 AND x.slot_id = k.slot_id OFFSET 0) x
ORDER BY x.slot_id, x.new_fact, x.valid_from, x.old_fact;

-- name: points_of_slots
SELECT p.slot_id, p.valid_from, p.number, p.facts, p.live
FROM (SELECT DISTINCT unnest($2::bigint[]) AS slot_id) k
CROSS JOIN LATERAL (
    SELECT p.* FROM sgam.points p
    WHERE p.tenant_id = $1 AND p.slot_id = k.slot_id AND p.facts > 0 OFFSET 0) p
ORDER BY p.slot_id, p.number, p.valid_from;

-- name: forms
-- What lenses made of the values of facts, as known at $3.
SELECT n.fact_id, n.schema_version, n.value, n.lens, n.known_from, n.lossy, n.defaulted
FROM (SELECT DISTINCT unnest($2::bigint[]) AS fact_id) k
CROSS JOIN LATERAL (
    SELECT n.* FROM sgam.encodings n
    WHERE n.tenant_id = $1 AND n.fact_id = k.fact_id AND n.known_from <= $3 AND n.lens IS NOT NULL OFFSET 0) n
ORDER BY n.fact_id, n.known_from, n.schema_version;

-- name: epochs_at
-- The epochs of the memory types of attributes at $3.
SELECT DISTINCT y.name, e.known_from, e.read_version, e.write_version, e.second_version
FROM sgam.attributes a
CROSS JOIN LATERAL (
    SELECT y.* FROM sgam.types y
    WHERE y.type_id = a.type_id OFFSET 0) y
CROSS JOIN LATERAL (
    SELECT x.known_from, x.read_version, x.write_version, x.second_version FROM sgam.epochs x
    WHERE x.tenant_id = $1 AND x.type_id = y.type_id AND x.known_from <= $3
    ORDER BY x.known_from DESC LIMIT 1) e
WHERE a.attribute_id = ANY ($2::bigint[])
ORDER BY y.name;

-- name: epochs
SELECT y.name, e.known_from, e.read_version, e.write_version, e.second_version
FROM sgam.types y CROSS JOIN LATERAL (
        SELECT e.* FROM sgam.epochs e WHERE e.tenant_id = $1 AND e.type_id = y.type_id OFFSET 0) e
ORDER BY y.name, e.known_from;

-- name: migrations
SELECT y.name, m.serial, m.state, m.body
FROM sgam.types y CROSS JOIN LATERAL (
        SELECT m.* FROM sgam.migrations m WHERE m.tenant_id = $1 AND m.type_id = y.type_id OFFSET 0) m
ORDER BY y.name, m.serial;

-- name: values_below
-- The facts numbered in [$3, $2), from the newest, each with its encodings; the recorded one has no lens.
SELECT f.fact_id, f.memory_id, f.op, f.schema_version, f.erased, s.scope, u.name, s.attribute_id, s.member,
    n.schema_version, n.value, n.lens, n.known_from, n.lossy, n.defaulted
FROM sgam.facts f
CROSS JOIN LATERAL ({{slot_of_fact}}) s
CROSS JOIN LATERAL ({{subject_of_slot}}) u
CROSS JOIN LATERAL (
    SELECT n.* FROM sgam.encodings n
    WHERE n.tenant_id = $1 AND n.fact_id = f.fact_id OFFSET 0) n
WHERE f.tenant_id = $1 AND f.fact_id < $2 AND f.fact_id >= $3 AND s.attribute_id = ANY ($4::bigint[])
ORDER BY f.fact_id DESC, n.schema_version, n.known_from;

-- name: quarantined_below
SELECT q.fact_id, f.memory_id, s.scope, u.name, s.attribute_id, s.member, q.rule, q.pointer, q.known_from,
    coalesce((SELECT true FROM sgam.segments x WHERE x.tenant_id = $1 AND x.fact_id = q.fact_id AND x.known_to IS NULL LIMIT 1), false)
FROM sgam.quarantine q
CROSS JOIN LATERAL (
    SELECT f.* FROM sgam.facts f
    WHERE f.tenant_id = $1 AND f.fact_id = q.fact_id OFFSET 0) f
CROSS JOIN LATERAL ({{slot_of_fact}}) s
CROSS JOIN LATERAL ({{subject_of_slot}}) u
WHERE q.tenant_id = $1 AND q.schema_version = $2 AND q.fact_id < $3 AND q.known_to IS NULL AND s.attribute_id = ANY ($5::bigint[])
ORDER BY q.fact_id DESC LIMIT $4;
