//go:build cgo

package sqlite

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/ledgertest"
)

func TestAPointReadHasTheEncodingsAndTheEpochOfItsKnownTime(t *testing.T) {
	ctx := t.Context()
	clock := ledgertest.NewClock(day(10))
	l := open(t, newPath(t), &sgam.Options{Clock: clock.Now})
	acme := tenant(t, l, "acme")
	r, err := acme.Apply(ctx, assert("mira", "deadline", "2026-07-01", day(1)).From(message("e1", day(1))))
	require.NoError(t, err)
	require.NoError(t, r.Err())
	times := []time.Time{r.Known}
	// The later version comes first, so that the order of the key is not the order in which they became known.
	for _, version := range []int{3, 2} {
		clock.Advance(time.Hour)
		require.NoError(t, acme.Migrate(ctx, "person", func(s *sgam.MigrationStep) (*sgam.MigrationWrite, error) {
			times = append(times, s.Known.Time())
			made := sgam.Encoding{Version: version, Value: []byte(`{"in":"form"}`), Lens: "a+b", Lossy: version == 3, Defaulted: []string{"/in"}}
			return &sgam.MigrationWrite{
				Epoch: &sgam.Epoch{Read: 1, Write: 1, Second: version}, Encodings: []sgam.NewEncoding{{Fact: 1, Encoding: made}},
			}, nil
		}))
	}

	c, done, err := storeOf(t, l).reader(ctx)
	require.NoError(t, err)
	defer func() { require.NoError(t, done(nil)) }()
	types, err := l.Types(ctx)
	require.NoError(t, err)
	key := sgam.SlotKey{Subject: "mira", Attribute: types[0].IDs[0]}
	versions := func(known sgam.Instant) (encodings []int, second int) {
		page, row := sgam.Page{}, sgam.Row{}
		q := &sgam.Query{Kind: sgam.QueryPoint, Valid: sgam.Instant(day(5).UnixMicro()), Known: known, Encodings: true}
		found, err := pointRow(c, "acme", q, key, &page, &row)
		require.NoError(t, err)
		require.True(t, found)
		require.Equal(t, `"2026-07-01"`, string(row.Fact.Value))
		require.Len(t, page.Epochs, 1)
		listed := sgam.Page{Rows: []sgam.Row{{Number: row.Number, Slot: key}}}
		s := session{conn: c, ctx: context.Background(), tenant: 1}
		require.NoError(t, s.forms(&listed, min(known, page.LastKnown)))
		require.Equal(t, listed.Rows[0].Encodings, row.Encodings, "as lists have them")
		require.Equal(t, listed.Epochs, page.Epochs)
		for _, e := range row.Encodings {
			encodings = append(encodings, e.Version)
		}
		return encodings, page.Epochs[0].Second
	}
	for i, want := range [][]int{nil, {3}, {3, 2}} {
		known, err := sgam.InstantOf(times[i])
		require.NoError(t, err)
		encodings, second := versions(known)
		require.Equal(t, want, encodings)
		require.Equal(t, []int{0, 3, 2}[i], second)
	}
	now, _ := versions(sgam.Forever)
	require.Equal(t, []int{3, 2}, now)
}
