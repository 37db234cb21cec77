package canon_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam/internal/canon"
)

// benchmarkDocuments are the shapes of the write path: short scalars, and an
// object of about 2 KiB in and out of canonical order.
func benchmarkDocuments() []struct{ name, document string } {
	var members []string
	for i := range 24 {
		members = append(members, fmt.Sprintf(
			`"field_%02d":{"amount":%d.%02d,"label":"Überweisung Nr. %d","open":true,"since":"2026-06-%02d"}`, i, i*37, i, i, i+1))
	}
	sorted := "{" + strings.Join(members, ",") + "}"
	for i, j := 0, len(members)-1; i < j; i, j = i+1, j-1 {
		members[i], members[j] = members[j], members[i]
	}
	return []struct{ name, document string }{
		{"date", `"2026-06-30"`},
		{"integer", `1750`},
		{"decimal", `19.90`},
		{"slow-decimal", `0.30000000000000004`},
		{"object-2KiB-sorted", sorted},
		{"object-2KiB-reversed", "{" + strings.Join(members, ",") + "}"},
	}
}

func BenchmarkCanonical(b *testing.B) {
	for _, c := range benchmarkDocuments() {
		raw := []byte(c.document)
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(raw)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := canon.Canonical(raw); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkValid is the yardstick: encoding/json only looking at the same bytes.
func BenchmarkValid(b *testing.B) {
	for _, c := range benchmarkDocuments() {
		raw := []byte(c.document)
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(raw)))
			b.ReportAllocs()
			for b.Loop() {
				if !json.Valid(raw) {
					b.Fatal("not valid")
				}
			}
		})
	}
}

func TestShortValuesCostFewAllocations(t *testing.T) {
	for _, c := range []struct {
		document string
		want     float64
	}{
		{`"2026-06-30"`, 1}, // the result, and nothing else
		{`1750`, 1},
		{`19.90`, 1},
		{`true`, 1},
		{`["a","b"]`, 1},
		{`{"amount":3,"open":true,"since":"2026-06-30"}`, 2}, // and the list of members
		{`{"open":true,"amount":3,"since":"2026-06-30"}`, 3}, // and the room to reorder them
	} {
		raw := []byte(c.document)
		got := testing.AllocsPerRun(100, func() {
			_, err := canon.Canonical(raw)
			require.NoError(t, err)
		})
		assert.LessOrEqual(t, got, c.want, c.document)
	}
}
