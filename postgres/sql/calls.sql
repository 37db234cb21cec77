-- Calls as they were recorded, a page at a time: what each of them brought itself. Subqueries have OFFSET 0 for the reason
-- given in read.sql.

-- name: calls_after
-- With the newest fact before the call.
SELECT c.seq, c.known_at, c.last_fact, p.name,
    coalesce((SELECT x.last_fact FROM sgam.calls x WHERE x.tenant_id = $1 AND x.seq = c.seq - 1), 0)
FROM sgam.calls c
CROSS JOIN LATERAL ({{principal_of_call}}) p
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
SELECT s.scope, u.name, s.attribute_id, s.member, {{planner_columns}},
    f.reach_to, f.ordinal, f.schema_version, f.supersedes, f.retention, f.provenance, f.erased, n.value, p.name
FROM sgam.facts f
CROSS JOIN LATERAL ({{slot_of_fact}}) s
CROSS JOIN LATERAL ({{subject_of_slot}}) u
CROSS JOIN LATERAL ({{principal_of_fact}}) p
LEFT JOIN LATERAL ({{episode_of_fact}}) e ON true
LEFT JOIN LATERAL ({{encoding_of_fact}}) n ON true
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
    SELECT f.slot_id
    FROM unnest($2::bigint[]) AS n(fact_id)
    CROSS JOIN LATERAL (SELECT f.* FROM sgam.facts f WHERE f.tenant_id = $1 AND f.fact_id = n.fact_id OFFSET 0) f
) k
CROSS JOIN LATERAL (
    SELECT v.* FROM sgam.value_numbers v
    WHERE v.tenant_id = $1 AND v.slot_id = k.slot_id AND v.seq >= $3 AND v.seq <= $4 OFFSET 0) v
CROSS JOIN LATERAL (
    SELECT s.* FROM sgam.slots s
    WHERE s.tenant_id = $1 AND s.slot_id = k.slot_id OFFSET 0) s
CROSS JOIN LATERAL ({{subject_of_slot}}) u;

-- name: call_outcomes
-- The last two columns are of the candidate that the outcome settled. Its memory id is made first: behind row-level security an
-- index takes no condition with COALESCE in it.
SELECT o.seq, o.ordinal, o.outcome, o.key, o.payload, o.digest, o.fact_id, coalesce(f.memory_id, o.memory_id), o.code, o.pointer,
    o.op, o.attribute, o.assumed, p.name, d.status, d.fact_id
FROM sgam.outcomes o
CROSS JOIN LATERAL ({{call_of_outcome}}) c
CROSS JOIN LATERAL ({{principal_of_call}}) p
LEFT JOIN LATERAL ({{fact_of_outcome}}) f ON true
CROSS JOIN LATERAL (SELECT coalesce(f.memory_id, o.memory_id) AS memory_id OFFSET 0) i
LEFT JOIN LATERAL (
    SELECT d.* FROM sgam.candidates d
    WHERE d.tenant_id = $1 AND d.memory_id = i.memory_id AND d.settled = o.seq OFFSET 0) d ON true
WHERE o.tenant_id = $1 AND o.seq >= $2 AND o.seq <= $3
ORDER BY o.seq, o.ordinal;

-- name: call_candidates
SELECT c.seq, c.ordinal, c.memory_id, o.outcome, e.name, c.delta, s.scope, u.name, s.attribute_id, s.member, ({{lost_to}})
FROM sgam.candidates c
CROSS JOIN LATERAL (
    SELECT o.* FROM sgam.outcomes o
    WHERE o.tenant_id = $1 AND o.seq = c.seq AND o.ordinal = c.ordinal OFFSET 0) o
CROSS JOIN LATERAL ({{slot_of_candidate}}) s
CROSS JOIN LATERAL ({{subject_of_slot}}) u
CROSS JOIN LATERAL ({{episode_of_candidate}}) e
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
