package sgam_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/schema"
	"github.com/sgam-ledger/sgam/sqlite"
)

// What the examples remember.
var (
	types    = schema.NewRegistry()
	Deadline = schema.MustDefine[sgam.Date](types, "passport_deadline", 1, &schema.Spec{Retention: "identity_documents"})
	HomeCity = schema.MustDefine[string](types, "home_city", 1, nil)
	Allergy  = schema.MustDefine[string](types, "allergy", 1, &schema.Spec{Many: true, Sensitivity: schema.Special})
	IBAN     = schema.MustDefine[string](types, "iban", 1, &schema.Spec{Policy: sgam.ConfirmFirst})
	ShoeSize = schema.MustDefine[float64](types, "shoe_size", 1, &schema.Spec{Policy: sgam.KeepHighestConfidence, Unit: "EU"})
)

var ctx = context.Background()

// must returns v, and gives up on an error.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// day is the start of a day of June 2026.
func day(d int) time.Time { return time.Date(2026, time.June, d, 0, 0, 0, 0, time.UTC) }

// said is a message of a day in June.
func said(id string, d int) sgam.Episode {
	return sgam.Episode{ID: id, Kind: sgam.Message, OccurredAt: day(d)}
}

// newPath names a file in a folder of its own.
func newPath() (path string, remove func()) {
	dir := must(os.MkdirTemp("", "sgam-"))
	return filepath.Join(dir, "agent.db"), func() {
		if err := os.RemoveAll(dir); err != nil {
			panic(err)
		}
	}
}

// newLedger opens a ledger in a folder of its own. Its clock stands where the example puts it.
func newLedger(clock *time.Time) (ledger *sgam.Ledger, done func()) {
	path, remove := newPath()
	ledger = must(sqlite.Open(ctx, path, &sgam.Options{
		Schemas: types,
		Clock:   func() time.Time { return *clock },
	}))
	return ledger, func() {
		if err := ledger.Close(); err != nil {
			panic(err)
		}
		remove()
	}
}

// newTenant is a tenant of such a ledger.
func newTenant(clock *time.Time) (acme *sgam.Tenant, done func()) {
	ledger, done := newLedger(clock)
	return must(ledger.Tenant("acme")), done
}

func Example() {
	path, remove := newPath()
	defer remove()
	june1, june2, june3 := day(1), day(2), day(3)
	july15, june30 := must(sgam.ParseDate("2026-07-15")), must(sgam.ParseDate("2026-06-30"))

	identity := schema.NewRegistry()
	deadline := schema.MustDefine[sgam.Date](identity, "passport_deadline", 1, nil)
	ledger := must(sqlite.Open(ctx, path, &sgam.Options{Schemas: identity}))
	acme := must(ledger.Tenant("acme"))

	e1 := sgam.Episode{ID: "e1", Kind: sgam.Message, OccurredAt: june1, Text: "Mira's passport must be renewed by 15 July."}
	first := must(acme.Apply(ctx, deadline.Assert("mira", july15, june1).From(e1)))
	e2 := sgam.Episode{ID: "e2", Kind: sgam.Message, OccurredAt: june3, Text: "The deadline is 30 June after all."}
	must(acme.Apply(ctx, deadline.Assert("mira", june30, june3).From(e2)))

	now := must(deadline.Get(ctx, acme.Current(), "mira"))
	was := must(deadline.Get(ctx, acme.ValidAt(june2).KnownAt(first.Known), "mira"))

	fmt.Println(now.V, "from", now.Episode)
	fmt.Println(was.V, "from", was.Episode)
	if err := ledger.Close(); err != nil {
		panic(err)
	}
	// Output:
	// 2026-06-30 from e2
	// 2026-07-15 from e1
}
