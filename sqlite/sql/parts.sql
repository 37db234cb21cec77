-- Parts of statements: what several of them have in common. The aliases are the same everywhere: t is a tenant, u a subject, s a
-- slot, g a segment, f a fact, n its value as it was recorded, e its episode, p who it is from.

-- part: revision
-- The registry's.
max(coalesce((SELECT max(revision) FROM type_versions), 0), coalesce((SELECT max(revision) FROM lenses), 0));

-- part: fact_columns
-- A fact as a read shows it.
f.memory_id, f.op, f.valid_from, f.valid_to, f.reach_to, f.known_from, f.confidence, f.schema_version, f.retention,
    f.provenance, f.erased, CAST(n.value AS BLOB), e.name, p.name,
    (SELECT x.memory_id FROM facts x WHERE x.tenant_id = f.tenant_id AND x.fact_id = f.supersedes), f.value_number;

-- part: planner_columns
-- A fact as the planner sees it.
f.fact_id, f.memory_id, f.op, f.valid_from, f.valid_to, f.value_number, f.known_from, f.part_of, f.target, f.confidence,
    e.name, e.kind;

-- part: point_columns
t.last_known, {{revision}},
    {{fact_columns}},
    g.valid_from, g.valid_to, g.known_from, f.fact_id;

-- part: point_slot
-- The slot with the subject, scope, attribute and member ?2 to ?5.
LEFT JOIN subjects u ON u.tenant_id = t.tenant_id AND u.name = +?2
LEFT JOIN slots s ON s.tenant_id = t.tenant_id AND s.scope = +?3 AND s.subject_id = u.subject_id AND s.attribute_id = +?4
    AND s.member = +?5;

-- part: point_segment_current
-- The open segment of a slot at the later of ?6 and the last commit, or ?6 itself when ?7 is the beginning of time.
LEFT JOIN segments g ON g.tenant_id = t.tenant_id AND g.slot_id = s.slot_id AND g.node = 0 AND g.valid_from = (
        SELECT max(x.valid_from) FROM segments x
        WHERE x.tenant_id = t.tenant_id AND x.slot_id = s.slot_id AND x.node = 0
            AND x.valid_from <= max(+?6, min(+?7, t.last_known)))
    AND g.valid_to > max(+?6, min(+?7, t.last_known));

-- part: point_segment_known
-- The segment at the same time, as it was known at ?8. Segments that were closed since are each at the fork node of their known
-- interval; the nodes that can hold one known at ?8 follow from the levels that occur in the slot, and each costs one seek.
LEFT JOIN segments g ON g.tenant_id = t.tenant_id AND g.slot_id = s.slot_id AND (g.node, g.valid_from) = (
        WITH RECURSIVE nodes(mask, node) AS (
            SELECT s.levels, 0
            UNION ALL
            SELECT mask & (mask - 1),
                ((min(+?8, t.last_known) + 62135596800000001) & (-2 * (mask & -mask))) | (mask & -mask)
            FROM nodes WHERE mask <> 0
        )
        SELECT c.node, c.valid_from
        FROM nodes
        CROSS JOIN segments c ON c.tenant_id = t.tenant_id AND c.slot_id = s.slot_id AND c.node = nodes.node
            AND c.valid_from = (
                SELECT max(x.valid_from) FROM segments x
                WHERE x.tenant_id = t.tenant_id AND x.slot_id = s.slot_id AND x.node = nodes.node
                    AND x.valid_from <= max(+?6, min(+?7, t.last_known)))
        WHERE c.valid_to > max(+?6, min(+?7, t.last_known)) AND c.known_from <= min(+?8, t.last_known)
            AND (c.known_to IS NULL OR c.known_to > min(+?8, t.last_known))
        LIMIT 1);

-- part: point_fact
-- What fact_columns are read from.
LEFT JOIN facts f ON f.tenant_id = t.tenant_id AND f.fact_id = g.fact_id
LEFT JOIN encodings n ON n.tenant_id = t.tenant_id AND n.fact_id = f.fact_id AND n.schema_version = f.schema_version
    AND n.known_from = f.known_from
LEFT JOIN episodes e ON e.tenant_id = t.tenant_id AND e.episode_id = f.episode_id
LEFT JOIN principals p ON p.tenant_id = t.tenant_id AND p.principal_id = f.principal_id;

-- part: form_columns
-- The epoch h of the memory type y, and what a lens made of the fact's value.
y.name, h.known_from, h.read_version, h.write_version, h.second_version,
    m.schema_version, CAST(m.value AS BLOB), m.lens, m.known_from, m.lossy, m.defaulted;
