-- Calls as they were recorded, a page at a time: what each of them brought itself.

-- name: calls_after
SELECT c.seq, c.known_at, c.last_fact, p.name
FROM calls c CROSS JOIN principals p ON p.tenant_id = c.tenant_id AND p.principal_id = c.principal_id
WHERE c.tenant_id = +?1 AND c.known_at > +?2
ORDER BY c.known_at LIMIT +?3;

-- name: facts_until
-- The newest fact at the end of a call.
SELECT last_fact FROM calls WHERE tenant_id = +?1 AND seq = +?2;

-- name: episode_call
-- The call that brought an episode.
SELECT seq FROM episodes WHERE tenant_id = +?1 AND episode_id = +?2;

-- name: call_episodes
SELECT seq, erased, digest, name, kind, source_id, occurred_at, session, thread, sequence, actor, text, CAST(body AS BLOB),
    CAST(metadata AS BLOB)
FROM episodes WHERE tenant_id = +?1 AND episode_id >= +?2 AND episode_id < +?3
ORDER BY episode_id;

-- name: call_facts
-- The first twelve columns are those that the planner sees.
SELECT {{planner_columns}}, f.reach_to, f.ordinal, f.schema_version, f.supersedes, f.retention, f.provenance, f.erased,
    CAST(n.value AS BLOB), p.name, s.scope, s.subject_id, s.attribute_id, s.member, f.slot_id
FROM facts f
CROSS JOIN slots s ON s.tenant_id = f.tenant_id AND s.slot_id = f.slot_id
CROSS JOIN principals p ON p.tenant_id = f.tenant_id AND p.principal_id = f.principal_id
LEFT JOIN episodes e ON e.tenant_id = f.tenant_id AND e.episode_id = f.episode_id
LEFT JOIN encodings n ON n.tenant_id = f.tenant_id AND n.fact_id = f.fact_id AND n.schema_version = f.schema_version
    AND n.known_from = f.known_from
WHERE f.tenant_id = +?1 AND f.fact_id > +?2 AND f.fact_id <= +?3
ORDER BY f.fact_id;

-- name: call_forms
-- What lenses made in calls known in (?2, ?3].
SELECT n.schema_version, CAST(n.value AS BLOB), n.lens, n.known_from, n.lossy, n.defaulted, n.fact_id, f.slot_id
FROM encodings n INDEXED BY encodings_by_known
CROSS JOIN facts f ON f.tenant_id = n.tenant_id AND f.fact_id = n.fact_id
WHERE n.tenant_id = +?1 AND n.lens IS NOT NULL AND n.known_from > +?2 AND n.known_from <= +?3
ORDER BY n.known_from;

-- name: call_numbers
-- The value numbers of a slot that calls in [?3, ?4] gave.
SELECT seq, digest, number FROM value_numbers WHERE tenant_id = +?1 AND slot_id = +?2 AND seq >= +?3 AND seq <= +?4;

-- name: call_quarantine
SELECT known_from, fact_id, schema_version, rule, pointer FROM quarantine INDEXED BY quarantine_by_known
WHERE tenant_id = +?1 AND known_from > +?2 AND known_from <= +?3
ORDER BY known_from;

-- name: call_outcomes
-- The last two columns are of the candidate that the outcome settled.
SELECT o.seq, o.ordinal, o.outcome, o.key, o.payload, o.digest, o.fact_id, coalesce(f.memory_id, o.memory_id), o.code, o.pointer,
    o.op, o.attribute, o.assumed, p.name, d.status, d.fact_id
FROM outcomes o
CROSS JOIN calls c ON c.tenant_id = o.tenant_id AND c.seq = o.seq
CROSS JOIN principals p ON p.tenant_id = c.tenant_id AND p.principal_id = c.principal_id
LEFT JOIN facts f ON f.tenant_id = o.tenant_id AND f.fact_id = o.fact_id
LEFT JOIN candidates d ON d.tenant_id = o.tenant_id AND d.memory_id = coalesce(f.memory_id, o.memory_id) AND d.settled = o.seq
WHERE o.tenant_id = +?1 AND o.seq >= +?2 AND o.seq <= +?3
ORDER BY o.seq, o.ordinal;

-- name: call_candidates
SELECT c.seq, c.ordinal, c.memory_id, o.outcome, e.name, CAST(c.delta AS BLOB), s.scope, s.subject_id, s.attribute_id, s.member
FROM candidates c
CROSS JOIN outcomes o ON o.tenant_id = c.tenant_id AND o.seq = c.seq AND o.ordinal = c.ordinal
CROSS JOIN slots s ON s.tenant_id = c.tenant_id AND s.slot_id = c.slot_id
CROSS JOIN episodes e ON e.tenant_id = c.tenant_id AND e.episode_id = c.episode_id
WHERE c.tenant_id = +?1 AND c.seq >= +?2 AND c.seq <= +?3
ORDER BY c.seq, c.ordinal;
