package bench

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/migrate"
)

// rowsOf are all rows that a statement finds in the file of an engine, as text.
func rowsOf(t *testing.T, e Engine, text string) []string {
	t.Helper()
	b, err := openBare(t.Context(), e, false)
	require.NoError(t, err)
	st, err := b.prepare(text)
	require.NoError(t, err)
	var rows []string
	require.NoError(t, st.each(nil, func() error {
		rows = append(rows, fmt.Sprintf("%x", st.row))
		return nil
	}))
	require.NoError(t, b.Close())
	return rows
}

// A baseline that inserted fewer rows, or others, would be no measure of a backfill.
func TestWhatTheDriverInsertsIsWhatABackfillLeaves(t *testing.T) {
	t.Parallel()
	files := NewFiles(t.TempDir(), tiny)
	small, err := files.small(t.Context())
	require.NoError(t, err)
	from, p, err := files.planned(t.Context(), small)
	require.NoError(t, err)
	added, err := files.recordBulk(t.Context(), from, p)
	require.NoError(t, err)

	contents := func(with func(context.Context, *opened) error) (encodings, numbers []string) {
		o, err := files.openCopy(t.Context(), from)
		require.NoError(t, err)
		require.NoError(t, with(t.Context(), o))
		encodings = rowsOf(t, o.engine, "SELECT fact_id, schema_version, value, lens, lossy, defaulted FROM encodings ORDER BY 1, 2")
		numbers = rowsOf(t, o.engine, "SELECT slot_id, digest, number FROM value_numbers ORDER BY 1, 2")
		require.NoError(t, o.Close())
		return encodings, numbers
	}
	before, numbersBefore := contents(func(context.Context, *opened) error { return nil })
	run, numbersRun := contents(func(ctx context.Context, o *opened) error { return migrate.Run(ctx, o.ledger, p, nil) })
	inserted, numbersInserted := contents(added.insertInto)
	assert.Len(t, run, len(before)+from.facts)
	assert.Greater(t, len(numbersRun), len(numbersBefore))
	assert.Equal(t, run, inserted)
	assert.Equal(t, numbersRun, numbersInserted)
}

func TestReadsOfTheTwoVersionsAreInTheirForms(t *testing.T) {
	t.Parallel()
	files := NewFiles(t.TempDir(), tiny)
	lensed, err := files.lensed(t.Context())
	require.NoError(t, err)
	migrated, err := files.migrated(t.Context())
	require.NoError(t, err)
	read := func(f *file, view func(*sgam.Tenant) sgam.View) sgam.Fact {
		s := &Sides{}
		tenant, _, err := s.reading(t.Context(), f)
		require.NoError(t, err)
		fact, err := view(tenant).Get(t.Context(), f.subjects[3], attributes[1])
		require.NoError(t, err)
		require.NoError(t, s.Close())
		return fact
	}
	old := read(lensed, (*sgam.Tenant).Current)
	assert.JSONEq(t, `"customer-3@example.com"`, string(old.Value))
	through := read(lensed, func(tenant *sgam.Tenant) sgam.View { return tenant.Current().AtVersion(customerType, newForm) })
	assert.JSONEq(t, `{"address":"customer-3@example.com","verified":false}`, string(through.Value))
	assert.Equal(t, 1, through.StoredVersion, "it was converted for the answer")
	after := read(migrated, (*sgam.Tenant).Current)
	assert.Equal(t, through.Value, after.Value)
	assert.Equal(t, newForm, after.StoredVersion, "it is stored")
}
