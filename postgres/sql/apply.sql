-- What one call writes. A statement that must find its row divides by the number of rows that it found. Rows that are made of
-- others have the tenant of those, and not the parameter: only so are they written where those are.

-- name: add_principal
INSERT INTO sgam.principals (tenant_id, principal_id, name) VALUES ($1, $2, $3);

-- name: add_subject
INSERT INTO sgam.subjects (tenant_id, subject_id, name, name_hmac) VALUES ($1, $2, $3, $4);

-- name: add_slot
INSERT INTO sgam.slots (tenant_id, slot_id, subject_id, attribute_id, scope, member, next_number, levels)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8);

-- name: update_slot
UPDATE sgam.slots s SET next_number = $3, levels = $4 WHERE s.tenant_id = $1 AND s.slot_id = $2;

-- name: add_call
INSERT INTO sgam.calls (tenant_id, seq, known_at, last_fact, principal_id) VALUES ($1, $2, $3, $4, $5);

-- name: add_episode
INSERT INTO sgam.episodes (tenant_id, episode_id, name, kind, source_id, occurred_at, session, thread, sequence, actor, digest, seq,
    text, body, metadata)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15);

-- name: add_fact
INSERT INTO sgam.facts (tenant_id, fact_id, memory_id, slot_id, op, value_number, valid_from, valid_to, reach_to, known_from, ordinal,
    episode_id, principal_id, confidence, schema_version, supersedes, retention, part_of, target, provenance)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20);

-- name: add_encoding
INSERT INTO sgam.encodings (tenant_id, fact_id, schema_version, value, known_from) VALUES ($1, $2, $3, $4, $5);

-- name: add_value_number
INSERT INTO sgam.value_numbers (tenant_id, slot_id, digest, number, seq) VALUES ($1, $2, $3, $4, $5);

-- name: close_segment
WITH closed AS (
    UPDATE sgam.segments g SET node = $5, known_to = $6, closed_by = $7
    WHERE g.tenant_id = $1 AND g.slot_id = $2 AND g.node = 0 AND g.valid_from = $3 AND g.known_from = $4
    RETURNING 1
)
SELECT 1 / count(*) FROM closed;

-- name: open_segment
INSERT INTO sgam.segments (tenant_id, slot_id, node, valid_from, valid_to, known_from, fact_id, opened_by)
VALUES ($1, $2, 0, $3, $4, $5, $6, $7);

-- name: add_reached
INSERT INTO sgam.reached (tenant_id, seq, slot_id) VALUES ($1, $2, $3);

-- name: close_confirmations
UPDATE sgam.confirmations c SET known_to = $3 WHERE c.tenant_id = $1 AND c.slot_id = $2 AND c.known_to IS NULL;

-- name: add_confirmation
INSERT INTO sgam.confirmations (tenant_id, slot_id, old_fact, new_fact, valid_from, valid_to, known_from)
VALUES ($1, $2, $3, $4, $5, $6, $7);

-- name: add_supersession
INSERT INTO sgam.supersessions (tenant_id, slot_id, new_fact, valid_from, old_fact, how, valid_to, known_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8);

-- name: count_point
INSERT INTO sgam.points AS p (tenant_id, slot_id, number, valid_from, facts, live) VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (tenant_id, slot_id, number, valid_from) DO UPDATE SET facts = p.facts + excluded.facts, live = excluded.live;

-- name: uncount_point
WITH counted AS (
    UPDATE sgam.points p SET facts = p.facts + $5, live = $6
    WHERE p.tenant_id = $1 AND p.slot_id = $2 AND p.number = $3 AND p.valid_from = $4
    RETURNING 1
)
SELECT 1 / count(*) FROM counted;

-- name: kill_points
UPDATE sgam.points p SET live = false
WHERE p.tenant_id = $1 AND p.slot_id = $2 AND p.live AND p.facts > 0 AND p.valid_from >= $3 AND p.valid_from < $4 AND p.number <> $5;

-- name: raise_points
UPDATE sgam.points p SET live = true
WHERE p.tenant_id = $1 AND p.slot_id = $2 AND p.number = $5 AND NOT p.live AND p.facts > 0 AND p.valid_from >= $3 AND p.valid_from < $4;

-- name: add_outcome
INSERT INTO sgam.outcomes (tenant_id, seq, ordinal, outcome, key, payload, digest, fact_id, memory_id, code, pointer, op, attribute,
    assumed)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14);

-- name: add_candidate
INSERT INTO sgam.candidates (tenant_id, seq, ordinal, memory_id, status, slot_id, episode_id, delta)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8);

-- name: add_lost_to
INSERT INTO sgam.lost_to (tenant_id, seq, ordinal, position, fact_id)
SELECT f.tenant_id, $2, $3, $4, f.fact_id FROM sgam.facts f WHERE f.tenant_id = $1 AND f.memory_id = $5;

-- name: check_lost_to
-- It fails by a division by zero unless the candidate has lost to $4 facts.
SELECT 1 / (count(*) = $4)::int FROM sgam.lost_to l WHERE l.tenant_id = $1 AND l.seq = $2 AND l.ordinal = $3;

-- name: settle_candidate
WITH settled AS (
    UPDATE sgam.candidates c SET status = $3, settled = $4, fact_id = $5
    WHERE c.tenant_id = $1 AND c.memory_id = $2 AND c.settled IS NULL
    RETURNING 1
)
SELECT 1 / count(*) FROM settled;

-- name: add_epoch
INSERT INTO sgam.epochs (tenant_id, type_id, known_from, read_version, write_version, second_version) VALUES ($1, $2, $3, $4, $5, $6);

-- name: add_form
-- What is erased stays erased.
INSERT INTO sgam.encodings (tenant_id, fact_id, schema_version, value, lens, known_from, lossy, defaulted)
SELECT f.tenant_id, f.fact_id, $3, $4, $5, $6, $7, $8 FROM sgam.facts f
WHERE f.tenant_id = $1 AND f.fact_id = $2 AND f.erased IS NULL;

-- name: add_form_number
-- The value in another form is the same value, unless that form says already which value it is.
INSERT INTO sgam.value_numbers (tenant_id, slot_id, digest, number, seq)
SELECT f.tenant_id, f.slot_id, $3, f.value_number, $4 FROM sgam.facts f
WHERE f.tenant_id = $1 AND f.fact_id = $2 AND f.erased IS NULL AND f.value_number > 0
ON CONFLICT (tenant_id, slot_id, digest) DO NOTHING;

-- name: add_quarantine
INSERT INTO sgam.quarantine (tenant_id, schema_version, fact_id, rule, pointer, known_from) VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (tenant_id, schema_version, fact_id)
DO UPDATE SET rule = excluded.rule, pointer = excluded.pointer, known_from = excluded.known_from, known_to = NULL;

-- name: leave_quarantine
UPDATE sgam.quarantine q SET known_to = $4
WHERE q.tenant_id = $1 AND q.schema_version = $2 AND q.fact_id = $3 AND q.known_to IS NULL;

-- name: keep_migration
INSERT INTO sgam.migrations (tenant_id, type_id, serial, state, body, known_at) VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (tenant_id, type_id, serial)
DO UPDATE SET state = excluded.state, body = excluded.body, known_at = excluded.known_at;
