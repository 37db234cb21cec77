-- Parts of statements: what several of them have in common. The aliases are the same everywhere: s is a slot and u its subject,
-- g a segment, f a fact, n its value as it was recorded, e its episode, p who it is from; c is a call, o an outcome. $1 is the
-- tenant. What begins with SELECT goes into a lateral subquery, and has OFFSET 0 for the reason given in read.sql.

-- part: slot_of_key
-- The slot of a subject u with the scope, attribute and member $3 to $5.
SELECT s.* FROM sgam.slots s
WHERE s.tenant_id = $1 AND s.scope = $3 AND s.subject_id = u.subject_id AND s.attribute_id = $4 AND s.member = $5 OFFSET 0;

-- part: slots_of_members
-- The same of a range of members.
SELECT s.* FROM sgam.slots s
WHERE s.tenant_id = $1 AND s.scope = $3 AND s.subject_id = u.subject_id AND s.attribute_id = $4
    AND s.member >= $5 AND s.member <= $6 OFFSET 0;

-- part: slot_of_fact
SELECT s.* FROM sgam.slots s
WHERE s.tenant_id = $1 AND s.slot_id = f.slot_id OFFSET 0;

-- part: subject_of_slot
SELECT u.* FROM sgam.subjects u
WHERE u.tenant_id = $1 AND u.subject_id = s.subject_id OFFSET 0;

-- part: segment_at
-- The segment of a slot at the valid time $6 and the known time $7, of which $10 are the nodes.
SELECT c.valid_from, c.valid_to, c.known_from, c.known_to, c.fact_id, c.opened_by, c.closed_by
FROM unnest($10::bigint[]) AS k(node)
CROSS JOIN LATERAL (
    SELECT x.valid_from, x.valid_to, x.known_from, x.known_to, x.fact_id, x.opened_by, x.closed_by
    FROM sgam.segments x
    WHERE x.tenant_id = $1 AND x.slot_id = s.slot_id AND x.node = k.node AND x.valid_from <= $6
    ORDER BY x.valid_from DESC LIMIT 1) c
WHERE (k.node = 0 OR s.levels & (k.node & -k.node) <> 0)
    AND c.valid_to > $6 AND c.known_from <= $7 AND (c.known_to IS NULL OR c.known_to > $7)
LIMIT 1;

-- part: fact_of_segment
SELECT f.* FROM sgam.facts f
WHERE f.tenant_id = $1 AND f.fact_id = g.fact_id OFFSET 0;

-- part: encoding_of_fact
SELECT n.* FROM sgam.encodings n
WHERE n.tenant_id = $1 AND n.fact_id = f.fact_id AND n.schema_version = f.schema_version AND n.known_from = f.known_from OFFSET 0;

-- part: episode_of_fact
SELECT e.* FROM sgam.episodes e
WHERE e.tenant_id = $1 AND e.episode_id = f.episode_id OFFSET 0;

-- part: principal_of_fact
SELECT p.* FROM sgam.principals p
WHERE p.tenant_id = $1 AND p.principal_id = f.principal_id OFFSET 0;

-- part: fact_joins
-- What fact_columns are read from, beside the fact.
LEFT JOIN LATERAL ({{encoding_of_fact}}) n ON true
LEFT JOIN LATERAL ({{episode_of_fact}}) e ON true
LEFT JOIN LATERAL ({{principal_of_fact}}) p ON true;

-- part: fact_columns
-- A fact as a read shows it.
f.memory_id, f.op, f.valid_from, f.valid_to, f.reach_to, f.known_from, f.confidence, f.schema_version, f.retention, f.provenance,
    f.erased, n.value, e.name, p.name,
    (SELECT x.memory_id FROM sgam.facts x WHERE x.tenant_id = $1 AND x.fact_id = f.supersedes), f.value_number;

-- part: listed_columns
-- A fact of a list: where it is, and who opened and closed its segment.
s.scope, u.name, s.attribute_id, s.member, s.slot_id, s.subject_id, g.valid_from, g.valid_to, g.known_from, g.known_to,
    (SELECT x.memory_id FROM sgam.facts x WHERE x.tenant_id = $1 AND x.fact_id = g.opened_by),
    (SELECT x.memory_id FROM sgam.facts x WHERE x.tenant_id = $1 AND x.fact_id = g.closed_by),
    f.fact_id, {{fact_columns}};

-- part: planner_columns
-- A fact as the planner sees it.
f.fact_id, f.memory_id, f.op, f.valid_from, f.valid_to, f.value_number, f.known_from, f.part_of, f.target, f.confidence,
    e.name, e.kind;

-- part: open_columns
-- The fact of an open segment, after the first and the last instant at which one of its open segments starts.
(SELECT min(x.valid_from) FROM sgam.segments x WHERE x.tenant_id = $1 AND x.fact_id = g.fact_id AND x.known_to IS NULL),
    (SELECT max(x.valid_from) FROM sgam.segments x WHERE x.tenant_id = $1 AND x.fact_id = g.fact_id AND x.known_to IS NULL),
    {{planner_columns}};

-- part: call_of_outcome
SELECT c.* FROM sgam.calls c
WHERE c.tenant_id = $1 AND c.seq = o.seq OFFSET 0;

-- part: principal_of_call
SELECT p.* FROM sgam.principals p
WHERE p.tenant_id = $1 AND p.principal_id = c.principal_id OFFSET 0;

-- part: fact_of_outcome
SELECT f.* FROM sgam.facts f
WHERE f.tenant_id = $1 AND f.fact_id = o.fact_id OFFSET 0;

-- part: lost_to
-- The memory ids that a candidate c had lost to, one after the other.
SELECT string_agg(f.memory_id, ''::bytea ORDER BY x.position)
FROM sgam.lost_to x CROSS JOIN LATERAL (
    SELECT f.* FROM sgam.facts f WHERE f.tenant_id = $1 AND f.fact_id = x.fact_id OFFSET 0) f
WHERE x.tenant_id = $1 AND x.seq = c.seq AND x.ordinal = c.ordinal;

-- part: slot_of_candidate
SELECT s.* FROM sgam.slots s
WHERE s.tenant_id = $1 AND s.slot_id = c.slot_id OFFSET 0;

-- part: episode_of_candidate
SELECT e.* FROM sgam.episodes e
WHERE e.tenant_id = $1 AND e.episode_id = c.episode_id OFFSET 0;

-- part: candidate_columns
-- A candidate c, of the call l.
c.seq, c.ordinal, c.memory_id, c.status, s.scope, u.name, s.attribute_id, s.member, e.name, e.kind, e.source_id, c.delta,
    p.name, l.known_at, ({{lost_to}});

-- part: candidate_joins
-- What candidate_columns are read from, beside the candidate.
CROSS JOIN LATERAL ({{slot_of_candidate}}) s
CROSS JOIN LATERAL ({{subject_of_slot}}) u
CROSS JOIN LATERAL ({{episode_of_candidate}}) e
CROSS JOIN LATERAL (
    SELECT l.* FROM sgam.calls l
    WHERE l.tenant_id = $1 AND l.seq = c.seq OFFSET 0) l
CROSS JOIN LATERAL (
    SELECT p.* FROM sgam.principals p
    WHERE p.tenant_id = $1 AND p.principal_id = l.principal_id OFFSET 0) p;
