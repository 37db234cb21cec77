package postgres

import (
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
)

// try runs a statement as a tenant's transaction that is rolled back, and gives the code of its failure, empty for none.
func try(t *testing.T, conn *pgx.Conn, text string) string {
	t.Helper()
	tx, err := conn.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), setTenant("1"))
	require.NoError(t, err)
	tag, err := tx.Exec(t.Context(), text)
	require.NoError(t, tx.Rollback(t.Context()))
	if err != nil {
		require.NotEmpty(t, sqlState(err), "%s: %v", text, err)
		return sqlState(err)
	}
	if tag.RowsAffected() == 0 {
		return "no row"
	}
	return ""
}

func TestTheDatabaseRefusesWhatTheRulesForbid(t *testing.T) {
	for _, opts := range []InitOptions{{}, {Partitions: 8}, {Distributed: new(true)}} {
		t.Run(layoutName(opts), func(t *testing.T) { refusesWhatIsForbidden(t, two(t, opts), opts.Distributed != nil) })
	}
}

// refusesWhatIsForbidden tries the guards of a ledger in which two tenants have spoken. Where the tables are spread, the
// programs alone keep the attributes of a frozen version.
func refusesWhatIsForbidden(t *testing.T, name string, spread bool) {
	t.Helper()
	const forever = "9223372036854775807"
	const denied, check, foreign, unique, exclusion = "42501", "23514", "23503", "23505", "23P01"
	at := func(n int) string { return fmt.Sprint(day(n).UnixMicro()) }
	frozen := denied
	if spread {
		frozen = unique // that the version has the attribute already
	}
	app := as(t, name, application)
	for _, c := range []struct{ why, text, code string }{
		{"a segment is not deleted", "DELETE FROM sgam.segments", denied},
		{"a segment does not move in valid time", "UPDATE sgam.segments SET valid_from = valid_from - 1", denied},
		{"a segment does not end elsewhere", "UPDATE sgam.segments SET valid_to = valid_to - 1", denied},
		{"a segment keeps its fact", "UPDATE sgam.segments SET fact_id = 1", denied},
		{"a segment was always known since then", "UPDATE sgam.segments SET known_from = known_from - 1", denied},
		{"a closed segment is not closed again", "UPDATE sgam.segments SET known_to = known_to + 1 WHERE node <> 0", "no row"},
		{"who closed a segment stays", "UPDATE sgam.segments SET closed_by = 1 WHERE node <> 0", "no row"},
		{"a segment is closed by somebody", "UPDATE sgam.segments SET known_to = known_from + 5, node = known_from + 62135596800000001 WHERE node = 0", check},
		{"a closed segment goes to its fork node", "UPDATE sgam.segments SET known_to = known_from + 2, closed_by = 3, node = (known_from + 62135596800000001) | 1 + 4096 WHERE node = 0", check},
		{"an open segment stays open or is closed", "UPDATE sgam.segments SET node = 1 WHERE node = 0", denied},
		{"a segment begins open", "INSERT INTO sgam.segments VALUES (1, 1, 62135596800000001, 0, 5, 0, 1, 1, 1, 1)", denied},
		{"open segments do not overlap at their start", "INSERT INTO sgam.segments VALUES (1, 1, 0, " + at(20) + ", " + forever + ", 0, NULL, 2, 2, NULL)", exclusion},
		{"open segments do not overlap at their end", "INSERT INTO sgam.segments VALUES (1, 1, 0, 0, " + at(2) + ", 0, NULL, 2, 2, NULL)", exclusion},
		{"open segments do not swallow each other", "INSERT INTO sgam.segments VALUES (1, 1, 0, 0, " + forever + ", 0, NULL, 2, 2, NULL)", exclusion},
		{"a segment is not empty", "INSERT INTO sgam.segments VALUES (1, 1, 0, 5, 5, 0, NULL, 1, 1, NULL)", check},
		{"a segment's fact is of its slot", "INSERT INTO sgam.segments VALUES (1, 2, 0, 0, 5, 0, NULL, 1, 1, NULL)", foreign},
		{"a segment's fact exists", "INSERT INTO sgam.segments VALUES (1, 1, 0, 0, 5, 0, NULL, 99, 99, NULL)", foreign},
		{"a row is of the transaction's tenant", "INSERT INTO sgam.segments VALUES (2, 1, 0, 0, 5, 0, NULL, 1, 1, NULL)", denied},
		{"another tenant's row is not changed", "UPDATE sgam.slots SET levels = 1 WHERE tenant_id = 2", "no row"},
		{"a fact does not change", "UPDATE sgam.facts SET valid_to = valid_to - 1", denied},
		{"a fact is not deleted", "DELETE FROM sgam.facts", denied},
		{"a value does not change", "UPDATE sgam.encodings SET value = '\"x\"'", denied},
		{"a confirmation keeps its interval", "UPDATE sgam.confirmations SET valid_to = 5", denied},
		{"a confirmation is not opened again", "UPDATE sgam.confirmations SET known_to = NULL", denied},
		{"a supersession does not change", "UPDATE sgam.supersessions SET how = 'split'", denied},
		{"an outcome does not change", "UPDATE sgam.outcomes SET outcome = 'rejected'", denied},
		{"a key is used once", "INSERT INTO sgam.outcomes SELECT tenant_id, seq, 99, outcome, key, payload, digest, fact_id, memory_id, code, pointer, op, attribute, assumed FROM sgam.outcomes WHERE seq = 1", unique},
		{"a call keeps its time", "UPDATE sgam.calls SET known_at = known_at + 1", denied},
		{"known time is used once", "INSERT INTO sgam.calls SELECT 1, 99, max(known_at), 4, 1 FROM sgam.calls", unique},
		{"a frozen version does not change", "UPDATE sgam.type_versions SET document = '{}'", "no row"},
		{"a frozen version gets no more attributes", "INSERT INTO sgam.version_attributes SELECT type_id, version, revision, 9, attribute_id, many FROM sgam.version_attributes", frozen},
		{"a version begins as a draft", "INSERT INTO sgam.type_versions VALUES (1, 2, false, '{}', 'h', 's', 900)", denied},
		{"a settled candidate stays settled", "UPDATE sgam.candidates SET settled = NULL", denied},
		{"a point counts no fewer than no facts", "UPDATE sgam.points SET facts = -1", check},
		{"nothing is truncated", "TRUNCATE sgam.points", denied},
		{"the ledger keeps its name", "UPDATE sgam.ledger SET name = 'x'", denied},
	} {
		require.Equal(t, c.code, try(t, app, c.text), c.why)
	}
	for _, text := range []string{
		"INSERT INTO sgam.segments VALUES (1, 1, 0, 0, " + at(1) + ", 0, NULL, 1, 2, NULL)",
		"UPDATE sgam.segments SET known_to = known_from + 1, closed_by = 3, node = known_from + 62135596800000001 WHERE node = 0",
		"UPDATE sgam.confirmations SET known_to = known_from + 1",
		"INSERT INTO sgam.type_versions VALUES (1, 2, true, '{}', 'h2', 's2', 902)",
	} {
		require.Empty(t, try(t, app, text), text)
	}
}

func TestACandidateLosesToStoredFactsAlone(t *testing.T) {
	name := two(t, InitOptions{})
	pool, err := pgxpool.New(t.Context(), home(t, name).DSN(name, application))
	require.NoError(t, err)
	defer pool.Close()
	var seq, ordinal int64
	var stored []byte
	require.NoError(t, as(t, name, owner).QueryRow(t.Context(), `SELECT l.seq, l.ordinal, f.memory_id FROM sgam.lost_to l
		JOIN sgam.facts f ON f.tenant_id = l.tenant_id AND f.fact_id = l.fact_id WHERE l.tenant_id = 1 AND l.position = 0`).Scan(&seq, &ordinal, &stored))
	for _, c := range []struct {
		memory []byte
		lost   int
		code   string
	}{
		{stored, 2, ""}, {stored, 1, "22012"}, {stored, 3, "22012"}, {make([]byte, 16), 2, "22012"},
	} {
		err := (&store{pool: pool}).once(t.Context(), func(s *session) error {
			s.begin(stBeginWrite)
			s.enter(1)
			s.add(nil, stAddLostTo, 1, seq, ordinal, 1, c.memory)
			s.add(nil, stCheckLostTo, 1, seq, ordinal, c.lost)
			s.add(nil, stRollback)
			return s.run(t.Context())
		})
		require.Equal(t, c.code, code(err))
		require.Equal(t, c.code == "", err == nil)
	}
}
