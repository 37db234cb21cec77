package migrate_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/ledgertest"
	"github.com/sgam-ledger/sgam/migrate"
	"github.com/sgam-ledger/sgam/schema"
	"github.com/sgam-ledger/sgam/sqlite"
)

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

// The guide's page about changing a schema quotes this program.
func Example_changingASchema() {
	ctx := context.Background()
	dir := must(os.MkdirTemp("", "sgam-guide-"))
	defer func() { check(os.RemoveAll(dir)) }()
	path := filepath.Join(dir, "agent.db")
	clock := ledgertest.NewClock(time.Date(2026, time.June, 1, 9, 0, 0, 0, time.UTC))
	episode := func(id string) sgam.Episode {
		return sgam.Episode{ID: id, Kind: sgam.Message, OccurredAt: clock.Now()}
	}

	// The program as it was: a phone number is a text.
	old := schema.NewRegistry()
	Text := schema.MustDefine[string](old, "phone", 1, nil)
	l := must(sqlite.Open(ctx, path, &sgam.Options{Schemas: old, Clock: clock.Now}))
	acme := must(l.Tenant("acme"))
	must(acme.Apply(ctx, Text.Assert("mira", "+351 555 0100", clock.Now()).From(episode("e1"))))
	must(acme.Apply(ctx, Text.Assert("eva", "+49 555 0199", clock.Now()).From(episode("e2"))))
	check(l.Close())
	before := clock.Now()
	clock.Advance(24 * time.Hour)

	// The program as it will be: a number has a kind. Both versions are declared, with the lens between them.
	type Phone struct {
		Number string `json:"number"`
		Kind   string `json:"kind" validate:"oneof=mobile work unknown"`
	}
	types := schema.NewRegistry()
	Text = schema.MustDefine[string](types, "phone", 1, nil)
	Number := schema.MustDefine[Phone](types, "phone", 2, nil)
	check(types.AddLens([]byte(`{"type": "phone", "version": 2, "attributes": [{"tag": 1, "ops": [
		{"op": "wrap", "prop": "number"},
		{"op": "add", "prop": "kind", "default": "unknown"}
	]}]}`)))
	l = must(sqlite.Open(ctx, path, &sgam.Options{Schemas: types, Clock: clock.Now}))
	defer func() { check(l.Close()) }()
	acme = must(l.Tenant("acme"))

	// Nothing has changed yet: this tenant has facts of version 1, so it goes on with version 1.
	r := must(acme.Apply(ctx, Number.Assert("bob", Phone{"+1 555 0142", "work"}, clock.Now()).From(episode("e3"))))
	fmt.Println("version 2 before the migration:", r.Outcome, r.Code)

	plan := must(migrate.Draw(ctx, l, migrate.Options{Type: "phone"}))
	report := must(migrate.DryRun(ctx, l, plan))
	for _, a := range report.Tenants[0].Attributes {
		fmt.Printf("%s: %d facts, %d to convert, %d with a part that nobody said, %d that cannot go over\n",
			a.Attribute, a.Facts, a.Convert, a.Defaulted, a.Quarantine)
		fmt.Printf("  %s becomes %s\n", a.Examples[0].Before, a.Examples[0].After)
	}

	// From the start of the run on, every write is stored in both versions.
	check(migrate.Run(ctx, l, plan, &migrate.RunOptions{Principal: "ops"}))
	must(acme.Apply(ctx, Text.Assert("ana", "+55 555 0123", clock.Now()).From(episode("e4"))))
	must(acme.Apply(ctx, Number.Assert("bob", Phone{"+1 555 0142", "work"}, clock.Now()).From(episode("e5"))))
	for _, subject := range []string{"mira", "ana", "bob"} {
		text := must(Text.Get(ctx, acme.Current(), subject))
		number := must(Number.Get(ctx, acme.Current(), subject))
		fmt.Printf("%s: %q and %+v, nobody said %v\n", subject, text.V, number.V, number.Defaulted)
	}

	must(migrate.Verify(ctx, l, plan.Target("ops")))
	clock.Advance(time.Hour)
	check(migrate.Cutover(ctx, l, plan.Target("ops")))
	clock.Advance(time.Hour)

	// Who asks for no version gets the one in force at the known time of the question.
	now := must(acme.Current().Get(ctx, "mira", "phone"))
	then := must(acme.ValidAt(before).KnownAt(before).Get(ctx, "mira", "phone"))
	fmt.Printf("now  version %d: %s\nthen version %d: %s\n", now.SchemaVersion, now.Value, then.SchemaVersion, then.Value)

	// Until the migration is contracted, there is a way back, as long as it loses nothing.
	err := migrate.Rollback(ctx, l, plan.Target("ops"), false)
	fmt.Println("rollback refused:", errors.Is(err, migrate.ErrLossy))
	check(migrate.Contract(ctx, l, plan.Target("ops"), nil))
	r = must(acme.Apply(ctx, Text.Assert("ana", "+55 555 0124", clock.Now()).From(episode("e6"))))
	fmt.Println("version 1 after the migration:", r.Outcome, r.Code)
	// Output:
	// version 2 before the migration: rejected schema_version
	// phone: 2 facts, 2 to convert, 2 with a part that nobody said, 0 that cannot go over
	//   "+49 555 0199" becomes {"kind":"unknown","number":"+49 555 0199"}
	// mira: "+351 555 0100" and {Number:+351 555 0100 Kind:unknown}, nobody said [/kind]
	// ana: "+55 555 0123" and {Number:+55 555 0123 Kind:unknown}, nobody said [/kind]
	// bob: "+1 555 0142" and {Number:+1 555 0142 Kind:work}, nobody said []
	// now  version 2: {"kind":"unknown","number":"+351 555 0100"}
	// then version 1: "+351 555 0100"
	// rollback refused: true
	// version 1 after the migration: rejected schema_version
}
