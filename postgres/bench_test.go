package postgres

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
)

func BenchmarkGet(b *testing.B) {
	acme := tenant(b, opened(b, newDatabase(b, InitOptions{})), "acme")
	_, err := acme.Apply(b.Context(), assert("mira", "deadline", "2026-07-15", day(1)).From(message("e1", day(1))))
	require.NoError(b, err)
	for b.Loop() {
		_, err := acme.Current().Get(b.Context(), "mira", "deadline")
		require.NoError(b, err)
	}
}

func BenchmarkApply(b *testing.B) {
	acme := tenant(b, opened(b, newDatabase(b, InitOptions{})), "acme")
	n := 0
	for b.Loop() {
		n++
		d := assert(fmt.Sprint("s", n%100), "deadline", fmt.Sprint(n), day(1).AddDate(0, 0, n)).From(message(fmt.Sprint("e", n), day(1)))
		r, err := acme.Apply(b.Context(), d)
		require.NoError(b, err)
		require.Equal(b, sgam.Applied, r.Outcome)
	}
}

func BenchmarkRaw(b *testing.B) {
	conn := as(b, newDatabase(b, InitOptions{}), application)
	for b.Loop() {
		var n int
		require.NoError(b, conn.QueryRow(b.Context(), "SELECT 1").Scan(&n))
	}
}

// Calls of one size, their rows sent one by one or copied.
func BenchmarkLargeCall(b *testing.B) {
	l, err := at(b, newDatabase(b, InitOptions{}), nil)(b.Context(), &sgam.Options{Schemas: schemas(), ClockTolerance: -1})
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, l.Close()) })
	s, ok := l.Store().(*store)
	require.True(b, ok)
	acme, n := tenant(b, l, "acme"), 0
	for _, facts := range []int{100, 200, 400, 1000, 5000} {
		for _, way := range []struct {
			name  string
			large int
		}{{"one by one", 0}, {"copied", 1}} {
			b.Run(fmt.Sprintf("%d facts %s", facts, way.name), func(b *testing.B) {
				s.large = way.large
				for b.Loop() {
					n++
					applied(b, acme, several(n, facts))
				}
				b.ReportMetric(float64(b.N*facts)/b.Elapsed().Seconds(), "facts/s")
			})
		}
	}
}
