//go:build cgo

package transfer_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/ledgertest"
)

// A migration writes far more forms in a call than a page of calls may have.
func TestAMigrationOfManyFactsIsCopiedInPages(t *testing.T) {
	const batches, size = 14, 1000
	clock := ledgertest.NewClock(start)
	total := ledgertest.Attribute{Type: "order", Name: "total", Tag: 1, Value: "number"}
	schemas := ledgertest.NewSchemas(total)
	opened := func() *sgam.Ledger {
		l, err := inFile(t)(t.Context(), &sgam.Options{Schemas: schemas, Clock: clock.Now, Keys: ledgertest.OneKey{}})
		require.NoError(t, err)
		ledgertest.Proven(t, l)
		return l
	}
	from := opened()
	source, err := from.Tenant("t")
	require.NoError(t, err)
	for i := range batches {
		clock.Advance(time.Minute)
		b := sgam.Batch{Episodes: []sgam.Episode{{ID: strconv.Itoa(i), Kind: sgam.Message, OccurredAt: clock.Now()}}}
		for j := range size {
			d := sgam.MemoryDelta{Op: sgam.Assert, Subject: fmt.Sprint("s", i*size+j), Attribute: "total", Value: json.RawMessage(strconv.Itoa(j))}
			b.Deltas = append(b.Deltas, d.FromID(strconv.Itoa(i)))
		}
		_, err := source.ApplyBatch(t.Context(), b)
		require.NoError(t, err)
	}
	amount := ledgertest.Attribute{Type: "order", Name: "amount", Tag: 1, Value: "object"}
	lens := ledgertest.Lens{Tag: 1, Wrap: "value", Fill: "currency", Refuse: "7"}
	require.NoError(t, from.Register(t.Context(), schemas.NextThrough("order", []ledgertest.Lens{lens}, amount)))
	for below := int64(batches*size) + 1; below > 1; below -= 2 * size {
		write := &sgam.MigrationWrite{Record: &sgam.MigrationRecord{Type: "order", Serial: 1, State: "running", Body: json.RawMessage(strconv.FormatInt(below, 10))}}
		for v, err := range source.Values(t.Context(), "order", below) {
			require.NoError(t, err)
			if v.Number < below-2*size {
				break
			}
			made, err := from.Convert(t.Context(), v.Attribute, 1, 2, v.Value)
			if err != nil {
				write.Quarantined = append(write.Quarantined, sgam.Quarantined{Fact: v.Number, Version: 2, Rule: "domain", Pointer: "/value"})
				continue
			}
			write.Encodings = append(write.Encodings, source.Encode(&v, 2, made))
		}
		clock.Advance(time.Minute)
		require.NoError(t, source.Migrate(t.Context(), "order", func(*sgam.MigrationStep) (*sgam.MigrationWrite, error) { return write, nil }))
	}
	to := opened()
	require.NoError(t, copyAndCompare(t.Context(), from, to))
	target, err := to.Tenant("t")
	require.NoError(t, err)
	forms, waiting := 0, 0
	for v, err := range target.Values(t.Context(), "order", 0) {
		require.NoError(t, err)
		forms += len(v.Encodings)
	}
	for _, err := range target.Quarantine(t.Context(), "order", 2) {
		require.NoError(t, err)
		waiting++
	}
	assert.Equal(t, batches, waiting)
	assert.Equal(t, batches*(size-1), forms)
	want, err := source.Migrations(t.Context())
	require.NoError(t, err)
	got, err := target.Migrations(t.Context())
	require.NoError(t, err)
	assert.Equal(t, want, got)
}

func TestALensThatWasReplacedSinceTheFirstCopyGoesAlong(t *testing.T) {
	clock := ledgertest.NewClock(start)
	schemas := ledgertest.NewSchemas(ledgertest.Attribute{Type: "order", Name: "total", Tag: 1, Value: "number"})
	opened := func(s sgam.Schemas) *sgam.Ledger {
		l, err := sgam.New(t.Context(), ledgertest.NewStore(nil), &sgam.Options{Schemas: s, Clock: clock.Now})
		require.NoError(t, err)
		ledgertest.Proven(t, l)
		return l
	}
	from, to := opened(schemas), opened(nil)
	source, err := from.Tenant("t")
	require.NoError(t, err)
	d := sgam.MemoryDelta{Op: sgam.Assert, Subject: "s", Attribute: "total", Value: json.RawMessage(`1`)}
	_, err = source.Apply(t.Context(), d.From(sgam.Episode{ID: "e", Kind: sgam.Message, OccurredAt: start}))
	require.NoError(t, err)
	amount := ledgertest.Attribute{Type: "order", Name: "amount", Tag: 1, Value: "object"}
	doc := schemas.NextThrough("order", []ledgertest.Lens{{Tag: 1, Wrap: "value"}}, amount)
	require.NoError(t, from.Register(t.Context(), doc))
	begin := func(second int) {
		clock.Advance(time.Minute)
		require.NoError(t, source.Migrate(t.Context(), "order", func(*sgam.MigrationStep) (*sgam.MigrationWrite, error) {
			return &sgam.MigrationWrite{Epoch: &sgam.Epoch{Read: 1, Write: 1, Second: second}}, nil
		}))
	}
	begin(2)
	require.NoError(t, copyAndCompare(t.Context(), from, to))
	other := ledgertest.NewSchemas()
	_ = other.Next("order")
	better := other.NextThrough("order", []ledgertest.Lens{{Tag: 1, Wrap: "amount"}}, amount)
	doc.Lens = better.Lens
	require.ErrorIs(t, from.Register(t.Context(), doc), sgam.ErrLensInUse)
	begin(0)
	require.NoError(t, from.Register(t.Context(), doc))
	require.NoError(t, copyAndCompare(t.Context(), from, to))
	types, err := to.Types(t.Context())
	require.NoError(t, err)
	assert.Equal(t, better.Lens.Hash, types[1].Lens.Hash)
}
