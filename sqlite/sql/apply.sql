-- What one call writes.

-- name: add_tenant
INSERT INTO tenants (name, last_known, last_seq, last_fact, next_subject, next_slot, next_episode, next_principal)
VALUES (+?1, +?2, 0, 0, 1, 1, 1, 1) RETURNING tenant_id;

-- name: update_tenant
UPDATE tenants SET last_known = +?2, last_seq = +?3, last_fact = +?4, next_subject = +?5, next_slot = +?6, next_episode = +?7,
    next_principal = +?8
WHERE tenant_id = +?1;

-- name: principal
SELECT principal_id FROM principals WHERE tenant_id = +?1 AND name = +?2;

-- name: add_principal
INSERT INTO principals (tenant_id, principal_id, name) VALUES (+?1, +?2, +?3);

-- name: subject
SELECT subject_id FROM subjects WHERE tenant_id = +?1 AND name = +?2;

-- name: add_subject
INSERT INTO subjects (tenant_id, subject_id, name, name_hmac) VALUES (+?1, +?2, +?3, +?4);

-- name: slot
SELECT s.slot_id, s.next_number, s.levels FROM slots s
WHERE s.tenant_id = +?1 AND s.scope = +?2 AND s.subject_id = +?3 AND s.attribute_id = +?4 AND s.member = +?5;

-- name: add_slot
INSERT INTO slots (tenant_id, slot_id, subject_id, attribute_id, scope, member, next_number, levels)
VALUES (+?1, +?2, +?3, +?4, +?5, +?6, 1, 0);

-- name: update_slot
UPDATE slots SET next_number = +?3, levels = +?4 WHERE tenant_id = +?1 AND slot_id = +?2;

-- name: add_call
INSERT INTO calls (tenant_id, seq, known_at, last_fact, principal_id) VALUES (+?1, +?2, +?3, +?4, +?5);

-- name: add_episode
INSERT INTO episodes (tenant_id, episode_id, name, kind, source_id, occurred_at, session, thread, sequence, actor, digest, seq,
    text, body, metadata)
VALUES (+?1, +?2, +?3, +?4, +?5, +?6, +?7, +?8, +?9, +?10, +?11, +?12, +?13, CAST(+?14 AS TEXT), CAST(+?15 AS TEXT));

-- name: add_fact
INSERT INTO facts (tenant_id, fact_id, memory_id, slot_id, op, value_number, valid_from, valid_to, reach_to, known_from, ordinal,
    episode_id, principal_id, confidence, schema_version, supersedes, retention, part_of, target, provenance)
VALUES (+?1, +?2, +?3, +?4, +?5, +?6, +?7, +?8, +?9, +?10, +?11, +?12, +?13, +?14, +?15, +?16, +?17, +?18, +?19,
    CAST(+?20 AS TEXT));

-- name: add_encoding
INSERT INTO encodings (tenant_id, fact_id, schema_version, value, known_from) VALUES (+?1, +?2, +?3, CAST(+?4 AS TEXT), +?5);

-- name: add_value_number
INSERT INTO value_numbers (tenant_id, slot_id, digest, number, seq) VALUES (+?1, +?2, +?3, +?4, +?5)
ON CONFLICT (tenant_id, slot_id, digest) DO UPDATE SET number = excluded.number, seq = excluded.seq;

-- name: close_segment
UPDATE segments SET node = +?5, known_to = +?6, closed_by = +?7
WHERE tenant_id = +?1 AND slot_id = +?2 AND node = 0 AND valid_from = +?3 AND known_from = +?4
RETURNING fact_id;

-- name: open_segment
INSERT INTO segments (tenant_id, slot_id, node, valid_from, valid_to, known_from, fact_id, opened_by)
VALUES (+?1, +?2, 0, +?3, +?4, +?5, +?6, +?7);

-- name: add_reached
INSERT INTO reached (tenant_id, seq, slot_id) VALUES (+?1, +?2, +?3);

-- name: close_confirmations
UPDATE confirmations SET known_to = +?3 WHERE tenant_id = +?1 AND slot_id = +?2 AND known_to IS NULL;

-- name: add_confirmation
INSERT INTO confirmations (tenant_id, slot_id, old_fact, new_fact, valid_from, valid_to, known_from)
VALUES (+?1, +?2, +?3, +?4, +?5, +?6, +?7);

-- name: add_supersession
INSERT INTO supersessions (tenant_id, slot_id, new_fact, valid_from, old_fact, how, valid_to, known_at)
VALUES (+?1, +?2, +?3, +?4, +?5, +?6, +?7, +?8);

-- name: count_point
INSERT INTO points (tenant_id, slot_id, number, valid_from, facts, live) VALUES (+?1, +?2, +?3, +?4, +?5, +?6)
ON CONFLICT (tenant_id, slot_id, number, valid_from) DO UPDATE SET facts = facts + excluded.facts, live = excluded.live;

-- name: uncount_point
UPDATE points SET facts = facts + +?5, live = +?6
WHERE tenant_id = +?1 AND slot_id = +?2 AND number = +?3 AND valid_from = +?4
RETURNING facts;

-- name: drop_point
DELETE FROM points WHERE tenant_id = +?1 AND slot_id = +?2 AND number = +?3 AND valid_from = +?4 AND facts = 0;

-- name: kill_points
UPDATE points SET live = 0
WHERE tenant_id = +?1 AND slot_id = +?2 AND live = 1 AND valid_from >= +?3 AND valid_from < +?4 AND number <> +?5;

-- name: raise_points
UPDATE points SET live = 1
WHERE tenant_id = +?1 AND slot_id = +?2 AND number = +?5 AND live = 0 AND valid_from >= +?3 AND valid_from < +?4;

-- name: add_outcome
INSERT INTO outcomes (tenant_id, seq, ordinal, outcome, key, payload, digest, fact_id, memory_id, code, pointer, op, attribute,
    assumed)
VALUES (+?1, +?2, +?3, +?4, +?5, +?6, +?7, +?8, +?9, +?10, +?11, +?12, +?13, +?14);

-- name: add_candidate
INSERT INTO candidates (tenant_id, seq, ordinal, memory_id, status, slot_id, episode_id, delta)
VALUES (+?1, +?2, +?3, +?4, +?5, +?6, +?7, CAST(+?8 AS TEXT));

-- name: add_lost_to
INSERT INTO lost_to (tenant_id, seq, ordinal, position, fact_id)
SELECT +?1, +?2, +?3, +?4, fact_id FROM facts WHERE tenant_id = +?1 AND memory_id = +?5
RETURNING fact_id;

-- name: settle_candidate
UPDATE candidates SET status = +?3, settled = +?4, fact_id = +?5
WHERE tenant_id = +?1 AND memory_id = +?2 AND status IN ('pending', 'disputed')
RETURNING ordinal;

-- name: call_is_stored
-- After a COMMIT whose answer was lost: is the call there?
SELECT c.last_fact = +?4 AND (+?5 IS NULL OR f.memory_id = +?5)
FROM tenants t
CROSS JOIN calls c ON c.tenant_id = t.tenant_id AND c.seq = +?2 AND c.known_at = +?3
LEFT JOIN facts f ON f.tenant_id = c.tenant_id AND f.fact_id = c.last_fact
WHERE t.name = +?1;

-- name: add_epoch
INSERT INTO epochs (tenant_id, type_id, known_from, read_version, write_version, second_version)
SELECT +?1, type_id, +?3, +?4, +?5, +?6 FROM types WHERE name = +?2 RETURNING type_id;

-- name: add_form
-- What is erased stays erased.
INSERT INTO encodings (tenant_id, fact_id, schema_version, value, lens, known_from, lossy, defaulted)
SELECT f.tenant_id, f.fact_id, +?3, CAST(+?4 AS TEXT), +?5, +?6, +?7, +?8 FROM facts f
WHERE f.tenant_id = +?1 AND f.fact_id = +?2 AND f.erased IS NULL;

-- name: add_form_number
-- The value in another form is the same value, unless that form says already which value it is.
INSERT INTO value_numbers (tenant_id, slot_id, digest, number, seq)
SELECT f.tenant_id, f.slot_id, +?3, f.value_number, +?4 FROM facts f
WHERE f.tenant_id = +?1 AND f.fact_id = +?2 AND f.erased IS NULL AND f.value_number > 0
ON CONFLICT (tenant_id, slot_id, digest) DO NOTHING;

-- name: add_quarantine
INSERT INTO quarantine (tenant_id, schema_version, fact_id, rule, pointer, known_from) VALUES (+?1, +?2, +?3, +?4, +?5, +?6)
ON CONFLICT (tenant_id, schema_version, fact_id)
DO UPDATE SET rule = excluded.rule, pointer = excluded.pointer, known_from = excluded.known_from;

-- name: some_quarantine
SELECT 1 FROM quarantine WHERE tenant_id = +?1 AND schema_version = +?2 LIMIT 1;

-- name: drop_quarantine
DELETE FROM quarantine WHERE tenant_id = +?1 AND schema_version = +?2 AND fact_id = +?3;

-- name: keep_migration
INSERT INTO migrations (tenant_id, type_id, serial, state, body, known_at)
SELECT +?1, type_id, +?3, +?4, CAST(+?5 AS TEXT), +?6 FROM types WHERE name = +?2
ON CONFLICT (tenant_id, type_id, serial)
DO UPDATE SET state = excluded.state, body = excluded.body, known_at = excluded.known_at
RETURNING type_id;
