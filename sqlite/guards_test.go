//go:build cgo

package sqlite

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
)

// told makes a ledger in which every layer has rows, and opens its file with nothing but the driver and foreign keys.
func told(t *testing.T) func(text string) error {
	t.Helper()
	ctx := context.Background()
	path := newPath(t)
	l, err := Open(ctx, path, &sgam.Options{Schemas: plain{}})
	require.NoError(t, err)
	acme := tenant(t, l, "acme")
	apply := func(d sgam.MemoryDelta, want sgam.Outcome) {
		r, err := acme.Apply(ctx, d)
		require.NoError(t, err)
		require.Equal(t, want, r.Outcome)
	}
	apply(assert("mira", "deadline", "2026-07-15", day(1)).From(message("e1", day(1))), sgam.Applied)
	apply(assert("mira", "deadline", "2026-06-30", day(3)).From(message("e2", day(3))), sgam.Applied)
	apply(assert("mira", "deadline", "2026-06-30", day(4)).From(message("e3", day(4))), sgam.Confirmed)
	high, low := 0.9, 0.1
	strong := assert("mira", "email", "a@example.org", day(1)).From(message("e4", day(4)))
	strong.Confidence = &high
	apply(strong, sgam.Applied)
	weak := assert("mira", "email", "b@example.org", day(1)).From(message("e5", day(4)))
	weak.Confidence = &low
	apply(weak, sgam.Disputed)
	require.NoError(t, l.Close())
	raw := bare(t, "file:"+path+"?_foreign_keys=1")
	t.Cleanup(func() { require.NoError(t, raw.Close()) })
	return func(text string) error {
		_, err := raw.Exec(text, nil)
		return err
	}
}

func TestTheFileRefusesWhatTheRulesForbid(t *testing.T) {
	run := told(t)
	require.NoError(t, run("INSERT INTO type_versions VALUES (1, 2, 1, '{}', 'h2', 's2', 900)"))
	require.NoError(t, run("INSERT INTO lenses VALUES (1, 2, 901, '{}', 'h')"))
	const forever = "9223372036854775807"
	for _, c := range []struct{ why, text string }{
		{"a segment is not deleted", "DELETE FROM segments"},
		{"a segment does not move in valid time", "UPDATE segments SET valid_from = valid_from - 1 WHERE node = 0"},
		{"a segment does not end elsewhere", "UPDATE segments SET valid_to = valid_to - 1 WHERE node = 0"},
		{"a segment keeps its fact", "UPDATE segments SET fact_id = 1 WHERE node = 0 AND fact_id = 2"},
		{"a segment was always known since then", "UPDATE segments SET known_from = known_from - 1 WHERE node = 0"},
		{"a closed segment is not closed again", "UPDATE segments SET known_to = known_to + 1 WHERE node <> 0"},
		{"a closed segment is not opened again", "UPDATE segments SET known_to = NULL, closed_by = NULL, node = 0 WHERE node <> 0"},
		{"who closed a segment stays", "UPDATE segments SET closed_by = 1 WHERE node <> 0"},
		{"a segment is closed by somebody", "UPDATE segments SET known_to = known_from + 5, node = (known_from + 62135596800000001) WHERE node = 0 AND fact_id = 2"},
		{"a closed segment goes to its fork node", "UPDATE segments SET known_to = known_from + 2, closed_by = 3, node = (known_from + 62135596800000001) | 1 + 4096 WHERE node = 0 AND fact_id = 2"},
		{"an open segment stays at node 0", "UPDATE segments SET node = 1 WHERE node = 0"},
		{"a segment begins open", "INSERT INTO segments VALUES (1, 1, 62135596800000001, 0, 5, 0, 1, 1, 1, 1)"},
		{"open segments do not overlap at their start", "INSERT INTO segments VALUES (1, 1, 0, unixepoch('2026-06-20') * 1000000, " + forever + ", 0, NULL, 2, 2, NULL)"},
		{"open segments do not overlap at their end", "INSERT INTO segments VALUES (1, 1, 0, 0, unixepoch('2026-06-02') * 1000000, 0, NULL, 2, 2, NULL)"},
		{"open segments do not lie inside each other", "INSERT INTO segments VALUES (1, 1, 0, unixepoch('2026-06-02') * 1000000, unixepoch('2026-06-02') * 1000000 + 1, 0, NULL, 2, 2, NULL)"},
		{"open segments do not swallow each other", "INSERT INTO segments VALUES (1, 1, 0, 0, " + forever + ", 0, NULL, 2, 2, NULL)"},
		{"a segment is not empty in valid time", "INSERT INTO segments VALUES (1, 1, 0, 5, 5, 0, NULL, 1, 1, NULL)"},
		{"a segment is not inverted", "INSERT INTO segments VALUES (1, 1, 0, 6, 5, 0, NULL, 1, 1, NULL)"},
		{"a segment is not empty in known time", "UPDATE segments SET known_to = known_from, closed_by = 3, node = known_from + 62135596800000001 WHERE node = 0 AND fact_id = 2"},
		{"a segment's fact is of its slot", "INSERT INTO segments VALUES (1, 2, 0, 0, 5, 0, NULL, 1, 1, NULL)"},
		{"a segment's fact exists", "INSERT INTO segments VALUES (1, 1, 0, 0, 5, 0, NULL, 99, 99, NULL)"},
		{"a segment's fact is of its tenant", "INSERT INTO segments VALUES (2, 1, 0, 0, 5, 0, NULL, 1, 1, NULL)"},
		{"a fact keeps its interval", "UPDATE facts SET valid_to = valid_to - 1"},
		{"a fact keeps its operation", "UPDATE facts SET op = 'correct'"},
		{"a fact keeps its number", "UPDATE facts SET value_number = 2 WHERE fact_id = 1"},
		{"a fact keeps its episode", "UPDATE facts SET episode_id = 1"},
		{"a fact keeps who said it", "UPDATE facts SET principal_id = 2"},
		{"a fact gets no other provenance", "UPDATE facts SET provenance = '{}'"},
		{"a fact is not deleted", "DELETE FROM facts WHERE fact_id = 4"},
		{"a memory id is unique", "INSERT INTO facts SELECT tenant_id, 99, memory_id, slot_id, op, value_number, valid_from, valid_to, reach_to, known_from, ordinal, episode_id, principal_id, confidence, schema_version, supersedes, retention, part_of, target, provenance, salt, commitment, erased FROM facts WHERE fact_id = 1"},
		{"a lens does not change", "UPDATE lenses SET document = '{}'"},
		{"a lens is not deleted", "DELETE FROM lenses"},
		{"the first version has no lens", "INSERT INTO lenses VALUES (1, 1, 902, '{}', 'h')"},
		{"an epoch does not change", "UPDATE epochs SET read_version = 2"},
		{"an epoch is not deleted", "DELETE FROM epochs"},
		{"an epoch follows the one before", "INSERT INTO epochs SELECT tenant_id, type_id, known_from - 1, 1, 1, NULL FROM epochs"},
		{"an epoch reads a version", "INSERT INTO epochs SELECT tenant_id, type_id, known_from + 1, 0, 1, NULL FROM epochs"},
		{"a recorded value lost nothing", "INSERT INTO encodings VALUES (1, 1, 2, 5, '1', NULL, 1, NULL)"},
		{"a value does not change", "UPDATE encodings SET value = '\"x\"'"},
		{"a value's row is not deleted", "DELETE FROM encodings"},
		{"a confirmation keeps its interval", "UPDATE confirmations SET valid_to = 5"},
		{"a confirmation is not deleted", "DELETE FROM confirmations"},
		{"a supersession does not change", "UPDATE supersessions SET how = 'split'"},
		{"a supersession is not deleted", "DELETE FROM supersessions"},
		{"an outcome does not change", "UPDATE outcomes SET outcome = 'rejected'"},
		{"an outcome is not deleted", "DELETE FROM outcomes"},
		{"a key is used once", "INSERT INTO outcomes SELECT tenant_id, seq, 99, outcome, key, payload, digest, fact_id, memory_id, code, pointer, op, attribute, assumed FROM outcomes WHERE seq = 1"},
		{"a call keeps its time", "UPDATE calls SET known_at = known_at + 1"},
		{"a call is not deleted", "DELETE FROM calls WHERE seq = 5"},
		{"calls have no gaps", "INSERT INTO calls SELECT 1, 7, max(known_at) + 1, 4, 1, NULL, NULL FROM calls"},
		{"known time moves forward", "INSERT INTO calls SELECT 1, 6, max(known_at), 4, 1, NULL, NULL FROM calls"},
		{"a version that is not a draft is frozen", "UPDATE type_versions SET document = '{}' WHERE version = 1"},
		{"a frozen version stays", "DELETE FROM type_versions WHERE version = 1"},
		{"a frozen version's attributes stay", "UPDATE version_attributes SET many = 1"},
		{"a frozen version gets no more attributes", "INSERT INTO version_attributes VALUES (1, 1, 9, 1, 0)"},
		{"a frozen version's names stay", "UPDATE attribute_names SET name = 'x'"},
		{"a frozen version keeps its names", "DELETE FROM attribute_names"},
		{"a frozen version gets no more names", "INSERT INTO attribute_names VALUES (1, 1, 0, 9, 'x')"},
		{"a frozen version keeps its attributes", "DELETE FROM version_attributes"},
		{"a candidate's episode exists", "UPDATE candidates SET episode_id = 99"},
		{"a point counts no fewer than no facts", "UPDATE points SET facts = -1"},
		{"a number is a number", "UPDATE points SET facts = 'many'"},
	} {
		require.Error(t, run(c.text), c.why)
	}
}

func TestTheFileAllowsWhatTheRulesDo(t *testing.T) {
	run := told(t)
	for _, text := range []string{
		"INSERT INTO segments VALUES (1, 1, 0, 0, unixepoch('2026-06-01') * 1000000, 0, NULL, 1, 2, NULL)",
		"UPDATE segments SET known_to = 1, closed_by = 3, node = 62135596800000001 WHERE known_from = 0",
		"UPDATE confirmations SET known_to = known_from + 1",
		"UPDATE facts SET provenance = NULL, erased = 5 WHERE fact_id = 1",
		"UPDATE encodings SET value = NULL WHERE fact_id = 1",
		"INSERT INTO encodings VALUES (1, 1, 2, 5, '1', 'lens', 1, NULL)",
		"INSERT INTO epochs SELECT tenant_id, type_id, known_from + 1, 1, 1, 2 FROM epochs",
		"INSERT INTO calls SELECT 1, 6, max(known_at) + 1, 4, 1, NULL, NULL FROM calls",
		"INSERT INTO type_versions VALUES (1, 2, 1, '{}', 'h2', 's2', 102)",
		"INSERT INTO version_attributes VALUES (1, 2, 0, 1, 0)",
		"UPDATE type_versions SET draft = 0 WHERE version = 2",
	} {
		require.NoError(t, run(text), text)
	}
}
