package migrate_test

import (
	"context"
	"fmt"
	"time"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/ledgertest"
	"github.com/sgam-ledger/sgam/migrate"
	"github.com/sgam-ledger/sgam/schema"
)

// A weight that was kept in pounds is to be kept in kilograms.
func Example() {
	ctx := context.Background()
	types := schema.NewRegistry()
	first, err := types.Add([]byte(`{"type":"weight","version":1,"attributes":[
		{"tag":1,"name":"weight","unit":"lb","schema":{"type":"number"}}]}`))
	check(err)
	l, err := sgam.New(ctx, ledgertest.NewStore(nil), &sgam.Options{Schemas: types})
	check(err)
	acme, err := l.Tenant("acme")
	check(err)
	r, err := acme.Apply(ctx, sgam.MemoryDelta{Op: sgam.Assert, Subject: "mira", Attribute: "weight", Value: []byte("132")}.
		From(sgam.Episode{ID: "scales", Kind: sgam.ToolResult, OccurredAt: time.Date(2026, time.May, 1, 8, 0, 0, 0, time.UTC)}))
	check(err)

	// The new version comes with the lens into it.
	second, err := types.Add([]byte(`{"type":"weight","version":2,"attributes":[
		{"tag":1,"name":"weight","unit":"kg","schema":{"type":"number"}}]}`))
	check(err)
	lens, err := schema.ParseLens([]byte(`{"type":"weight","version":2,"attributes":[
		{"tag":1,"ops":[{"op":"affine","a":"5/11","b":"0"}]}]}`), first, second)
	check(err)
	second.Lens = &lens
	check(l.Register(ctx, second))

	plan, err := migrate.Draw(ctx, l, migrate.Options{Type: "weight"})
	check(err)
	report, err := migrate.DryRun(ctx, l, plan)
	check(err)
	example := report.Tenants[0].Attributes[0].Examples[0]
	fmt.Printf("dry run: %s becomes %s, %d in quarantine\n", example.Before, example.After, report.Quarantine())

	check(migrate.Run(ctx, l, plan, &migrate.RunOptions{Principal: "ops"}))
	_, err = migrate.Verify(ctx, l, plan.Target("ops"))
	check(err)
	check(migrate.Cutover(ctx, l, plan.Target("ops")))

	now, err := acme.Current().Get(ctx, "mira", "weight")
	check(err)
	before, err := acme.KnownAt(r.Known).Get(ctx, "mira", "weight")
	check(err)
	fmt.Printf("now: %s (version %d)\n", now.Value, now.SchemaVersion)
	fmt.Printf("as known before the cut-over: %s (version %d)\n", before.Value, before.SchemaVersion)

	check(migrate.Contract(ctx, l, plan.Target("ops"), nil))
	all, err := migrate.Status(ctx, l)
	check(err)
	fmt.Println(all[0].State)
	check(l.Close())
	// Output:
	// dry run: 132 becomes 60, 0 in quarantine
	// now: 60 (version 2)
	// as known before the cut-over: 132 (version 1)
	// done
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
