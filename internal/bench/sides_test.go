package bench

import (
	"context"
	"database/sql/driver"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
)

// tiny is enough to tell right from wrong.
var tiny = Scale{Large: 1_000, Small: 1_000, Versions: 30}

func TestBothSidesOfEveryRowRun(t *testing.T) {
	t.Parallel()
	files := NewFiles(t.TempDir(), tiny)
	for _, row := range Rows() {
		sides, err := row.Open(t.Context(), files)
		require.NoError(t, err, row.Name)
		n := 70
		if sides.Parts > 0 {
			n = 2
		}
		for _, side := range []Side{sides.Baseline, sides.Subject} {
			for range 2 {
				if side.Ready != nil {
					require.NoError(t, side.Ready(t.Context(), n), row.Name)
				}
				require.NoError(t, side.Run(t.Context(), n), row.Name)
			}
		}
		require.NoError(t, sides.Close(), row.Name)
	}
}

// A baseline that did less than the engine would flatter nobody.
func TestWhatTheDriverReplaysIsALedger(t *testing.T) {
	t.Parallel()
	files := NewFiles(t.TempDir(), tiny)
	small, err := files.small(t.Context())
	require.NoError(t, err)
	for name, replay := range map[string]func(ctx context.Context, p *player, n int) error{
		"call by call": func(ctx context.Context, p *player, n int) error { return each(p.one).Run(ctx, n) },
		"together":     func(_ context.Context, p *player, n int) error { return p.together(n, 64) },
	} {
		t.Run(name, func(t *testing.T) {
			s := &Sides{}
			recorded, err := s.record(t.Context(), files, small, small.changes(3))
			require.NoError(t, err)
			replayed, e, err := s.writing(t.Context(), files, small)
			require.NoError(t, err)
			b, err := openBare(t.Context(), e, true)
			require.NoError(t, err)
			s.add(b.Close)
			p := &player{tape: recorded, bare: b}
			const n = 150
			require.NoError(t, p.ready(t.Context(), n))
			before := answers{}.of(t, replayed, small)
			require.NoError(t, replay(t.Context(), p, n))

			after := answers{}.of(t, replayed, small)
			assert.NotEqual(t, before, after)
			assert.Equal(t, answers{}.of(t, recorded.tenant, small), after)
			require.NoError(t, s.Close())
		})
	}
}

// answers are what is true now, by slot.
type answers map[slot]sgam.Fact

func (a answers) of(t *testing.T, tenant *sgam.Tenant, f *file) answers {
	t.Helper()
	for _, subject := range f.subjects {
		for i, attribute := range attributes {
			fact, err := tenant.Current().Get(t.Context(), subject, attribute)
			require.NoError(t, err)
			a[slot{subject, i}] = fact
		}
	}
	return a
}

func TestTheDriverReadsWhatTheLedgerAnswers(t *testing.T) {
	t.Parallel()
	files := NewFiles(t.TempDir(), tiny)
	small, err := files.small(t.Context())
	require.NoError(t, err)
	s := &Sides{}
	tenant, e, err := s.reading(t.Context(), small)
	require.NoError(t, err)
	ids, err := attributeIDs(t.Context(), e)
	require.NoError(t, err)
	b, err := openBare(t.Context(), e, false)
	require.NoError(t, err)
	s.add(b.Close)
	st, err := b.prepare(e.Statement("point_current"))
	require.NoError(t, err)

	fact, err := tenant.Current().Get(t.Context(), small.subjects[7], attributes[1])
	require.NoError(t, err)
	row, err := st.first(arguments(tenantName, small.subjects[7], "", ids[1], []byte{}, day(deepFrom).UnixMicro(), int64(sgam.Forever)))
	require.NoError(t, err)
	var read scanned
	read.scan(row)
	assert.Equal(t, scanned{
		id: fact.ID, supersedes: fact.Supersedes, op: string(fact.Op), retention: fact.RetentionPolicy, episode: fact.Episode,
		principal: fact.Principal, value: fact.Value, version: int64(fact.SchemaVersion), asserted: fact.Asserted.From,
		assertedTo: read.assertedTo, reach: read.reach, recorded: fact.RecordedAt, valid: fact.Valid.From, known: fact.Known.From,
		validTo: read.validTo,
	}, read)
	require.NoError(t, s.Close())
}

func TestEveryPageOfAFileIsCounted(t *testing.T) {
	t.Parallel()
	files := NewFiles(t.TempDir(), tiny)
	imported, err := files.Imported(t.Context())
	require.NoError(t, err)
	assert.EqualValues(t, 1_000, imported.Facts)
	assert.Greater(t, imported.Segments, imported.Facts, "changes and corrections leave pieces")
	sum := imported.Other
	for table, bytes := range imported.Tables {
		assert.Positive(t, bytes, table)
		sum += bytes
	}
	assert.Equal(t, imported.Bytes, sum)
	assert.Contains(t, imported.Tables, "segments")
	assert.Less(t, imported.Other, imported.Bytes/20, "no value is long, and nothing was deleted")

	single, err := files.Single(t.Context())
	require.NoError(t, err)
	assert.EqualValues(t, 1_000, single.Facts)
	assert.Greater(t, single.Bytes/single.Facts, imported.Bytes/imported.Facts, "a call and an episode for each fact take their place")
}

func TestStatementsThatAnswerAreToldFromOthers(t *testing.T) {
	t.Parallel()
	assert.True(t, hasRows("-- The slot.\nSELECT 1"))
	assert.True(t, hasRows("WITH x AS (VALUES (1)) SELECT * FROM x"))
	assert.True(t, hasRows("UPDATE x SET a = 1 RETURNING a"))
	assert.False(t, hasRows("INSERT INTO x SELECT 1"))
	assert.False(t, hasRows("BEGIN IMMEDIATE"))
}

func TestArgumentsAreNumberedFromOne(t *testing.T) {
	t.Parallel()
	assert.Equal(t, []driver.NamedValue{{Ordinal: 1, Value: "a"}, {Ordinal: 2, Value: nil}}, arguments("a", nil))
}
