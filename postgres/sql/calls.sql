-- Calls as they were recorded, a page at a time: what each of them brought itself. Subqueries have OFFSET 0 for the reason
-- given in read.sql.

-- name: calls_after
-- With the newest fact before the call.
SELECT c.seq, c.known_at, c.last_fact, p.name,
    coalesce((SELECT x.last_fact FROM sgam.calls x WHERE x.tenant_id = $1 AND x.seq = c.seq - 1), 0)
FROM sgam.calls c
CROSS JOIN LATERAL (
    SELECT p.* FROM sgam.principals p
    WHERE p.tenant_id = $1 AND p.principal_id = c.principal_id OFFSET 0) p
WHERE c.tenant_id = $1 AND c.known_at > $2
ORDER BY c.known_at LIMIT $3;

-- name: first_episode
-- The number of the first episode that the call $2 or a later one brought, the next free number if none did. Episodes are
-- numbered in the order of the calls that brought them.
WITH RECURSIVE search(low, high) AS (
    SELECT 1::bigint, t.next_episode FROM sgam.tenants t WHERE t.tenant_id = $1
    UNION ALL
    SELECT CASE WHEN e.seq >= $2 THEN search.low ELSE (search.low + search.high) / 2 + 1 END,
        CASE WHEN e.seq >= $2 THEN (search.low + search.high) / 2 ELSE search.high END
    FROM search
    CROSS JOIN LATERAL (
        SELECT x.seq FROM sgam.episodes x
        WHERE x.tenant_id = $1 AND x.episode_id = (search.low + search.high) / 2 OFFSET 0) e
    WHERE search.low < search.high
)
SELECT search.low FROM search WHERE search.low = search.high;

-- name: call_episodes
SELECT e.seq, e.erased, e.digest, e.name, e.kind, e.source_id, e.occurred_at, e.session, e.thread, e.sequence, e.actor, e.text, e.body,
    e.metadata
FROM sgam.episodes e WHERE e.tenant_id = $1 AND e.episode_id >= $2 AND e.episode_id < $3
ORDER BY e.episode_id;

-- name: call_facts
-- After the slot come the twelve columns that the planner sees.
SELECT s.scope, u.name, s.attribute_id, s.member,
    f.fact_id, f.memory_id, f.op, f.valid_from, f.valid_to, f.value_number, f.known_from, f.part_of, f.target, f.confidence,
    e.name, e.kind, f.reach_to, f.ordinal, f.schema_version, f.supersedes, f.retention, f.provenance, f.erased, n.value, p.name
FROM sgam.facts f
CROSS JOIN LATERAL (
    SELECT s.* FROM sgam.slots s
    WHERE s.tenant_id = $1 AND s.slot_id = f.slot_id OFFSET 0) s
CROSS JOIN LATERAL (
    SELECT u.* FROM sgam.subjects u
    WHERE u.tenant_id = $1 AND u.subject_id = s.subject_id OFFSET 0) u
CROSS JOIN LATERAL (
    SELECT p.* FROM sgam.principals p
    WHERE p.tenant_id = $1 AND p.principal_id = f.principal_id OFFSET 0) p
LEFT JOIN LATERAL (
    SELECT e.* FROM sgam.episodes e
    WHERE e.tenant_id = $1 AND e.episode_id = f.episode_id OFFSET 0) e ON true
LEFT JOIN LATERAL (
    SELECT n.* FROM sgam.encodings n
    WHERE n.tenant_id = $1 AND n.fact_id = f.fact_id AND n.schema_version = f.schema_version AND n.known_from = f.known_from OFFSET 0) n ON true
WHERE f.tenant_id = $1 AND f.fact_id > $2 AND f.fact_id <= $3
ORDER BY f.fact_id;

-- name: call_forms
-- What lenses made in calls known in ($2, $3].
SELECT n.fact_id, n.schema_version, n.value, n.lens, n.known_from, n.lossy, n.defaulted
FROM sgam.encodings n
WHERE n.tenant_id = $1 AND n.lens IS NOT NULL AND n.known_from > $2 AND n.known_from <= $3
ORDER BY n.known_from;

-- name: call_quarantine
SELECT q.known_from, q.fact_id, q.schema_version, q.rule, q.pointer
FROM sgam.quarantine q
WHERE q.tenant_id = $1 AND q.known_to IS NULL AND q.known_from > $2 AND q.known_from <= $3
ORDER BY q.known_from;

-- name: call_numbers
-- The value numbers that calls in [$3, $4] gave in slots that they can have given some in: those of the facts in ($5, $6],
-- and of the facts $2.
SELECT v.seq, v.digest, v.number, s.scope, u.name, s.attribute_id, s.member
FROM (
    SELECT f.slot_id FROM sgam.facts f WHERE f.tenant_id = $1 AND f.fact_id > $5 AND f.fact_id <= $6
    UNION
    SELECT f.slot_id FROM sgam.facts f WHERE f.tenant_id = $1 AND f.fact_id = ANY ($2::bigint[])
) k
CROSS JOIN LATERAL (
    SELECT v.* FROM sgam.value_numbers v
    WHERE v.tenant_id = $1 AND v.slot_id = k.slot_id AND v.seq >= $3 AND v.seq <= $4 OFFSET 0) v
CROSS JOIN LATERAL (
    SELECT s.* FROM sgam.slots s
    WHERE s.tenant_id = $1 AND s.slot_id = k.slot_id OFFSET 0) s
CROSS JOIN LATERAL (
    SELECT u.* FROM sgam.subjects u
    WHERE u.tenant_id = $1 AND u.subject_id = s.subject_id OFFSET 0) u;

-- name: call_outcomes
-- The last two columns are of the candidate that the outcome settled.
SELECT o.seq, o.ordinal, o.outcome, o.key, o.payload, o.digest, o.fact_id, coalesce(f.memory_id, o.memory_id), o.code, o.pointer,
    o.op, o.attribute, o.assumed, p.name, d.status, d.fact_id
FROM sgam.outcomes o
CROSS JOIN LATERAL (
    SELECT c.* FROM sgam.calls c
    WHERE c.tenant_id = $1 AND c.seq = o.seq OFFSET 0) c
CROSS JOIN LATERAL (
    SELECT p.* FROM sgam.principals p
    WHERE p.tenant_id = $1 AND p.principal_id = c.principal_id OFFSET 0) p
LEFT JOIN LATERAL (
    SELECT f.* FROM sgam.facts f
    WHERE f.tenant_id = $1 AND f.fact_id = o.fact_id OFFSET 0) f ON true
LEFT JOIN LATERAL (
    SELECT d.* FROM sgam.candidates d
    WHERE d.tenant_id = $1 AND d.memory_id = coalesce(f.memory_id, o.memory_id) AND d.settled = o.seq OFFSET 0) d ON true
WHERE o.tenant_id = $1 AND o.seq >= $2 AND o.seq <= $3
ORDER BY o.seq, o.ordinal;

-- name: call_candidates
SELECT c.seq, c.ordinal, c.memory_id, o.outcome, e.name, c.delta, s.scope, u.name, s.attribute_id, s.member, (
    SELECT string_agg(f.memory_id, ''::bytea ORDER BY x.position)
    FROM sgam.lost_to x CROSS JOIN LATERAL (
        SELECT f.* FROM sgam.facts f WHERE f.tenant_id = $1 AND f.fact_id = x.fact_id OFFSET 0) f
    WHERE x.tenant_id = $1 AND x.seq = c.seq AND x.ordinal = c.ordinal)
FROM sgam.candidates c
CROSS JOIN LATERAL (
    SELECT o.* FROM sgam.outcomes o
    WHERE o.tenant_id = $1 AND o.seq = c.seq AND o.ordinal = c.ordinal OFFSET 0) o
CROSS JOIN LATERAL (
    SELECT s.* FROM sgam.slots s
    WHERE s.tenant_id = $1 AND s.slot_id = c.slot_id OFFSET 0) s
CROSS JOIN LATERAL (
    SELECT u.* FROM sgam.subjects u
    WHERE u.tenant_id = $1 AND u.subject_id = s.subject_id OFFSET 0) u
CROSS JOIN LATERAL (
    SELECT e.* FROM sgam.episodes e
    WHERE e.tenant_id = $1 AND e.episode_id = c.episode_id OFFSET 0) e
WHERE c.tenant_id = $1 AND c.seq >= $2 AND c.seq <= $3
ORDER BY c.seq, c.ordinal;

-- name: call_epochs
SELECT y.name, e.known_from, e.read_version, e.write_version, e.second_version
FROM sgam.epochs e JOIN sgam.types y ON y.type_id = e.type_id
WHERE e.tenant_id = $1 AND e.known_from > $2 AND e.known_from <= $3
ORDER BY y.name, e.known_from;

-- name: call_migrations
SELECT y.name, m.serial, m.state, m.body, m.known_at
FROM sgam.migrations m JOIN sgam.types y ON y.type_id = m.type_id
WHERE m.tenant_id = $1 AND m.known_at > $2 AND m.known_at <= $3
ORDER BY y.name, m.serial;
