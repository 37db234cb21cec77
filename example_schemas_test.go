package sgam_test

import (
	"encoding/json"
	"fmt"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/schema"
)

func ExampleAttribute() {
	// An address is one value: its parts change together.
	type Address struct {
		Street string `json:"street" validate:"required"`
		City   string `json:"city" validate:"required"`
	}
	address := schema.MustDefine[Address](types, "delivery_address", 1, nil)

	clock := day(1)
	acme, done := newTenant(&clock)
	defer done()
	must(acme.Apply(ctx, address.Assert("mira", Address{"Rua das Flores 7", "Porto"}, day(1)).From(said("e1", 1))))
	incomplete := must(acme.Apply(ctx, address.Assert("mira", Address{City: "Lyon"}, day(2)).From(said("e2", 2))))
	fmt.Println(incomplete.Outcome, incomplete.Faults[0].Field, incomplete.Faults[0].Rule)

	a := must(address.Get(ctx, acme.Current(), "mira"))
	fmt.Println(a.V.Street, "in", a.V.City, "from", a.Episode)
	// Output:
	// rejected value/street minLength
	// Rua das Flores 7 in Porto from e1
}

func ExampleAttribute_fields() {
	// What is known of a person becomes known piece by piece: one attribute for each field.
	type Profile struct {
		Nickname string   `json:"nickname"`
		Language string   `json:"language" validate:"oneof=de en pt"`
		Emails   []string `json:"emails" validate:"dive,email"`
	}
	profile := schema.MustDefineType[Profile](types, "profile", 1, &schema.TypeSpec{
		Prefix: "profile_",
		Fields: map[string]*schema.Spec{"emails": {Many: true, Sensitivity: schema.Personal}},
	})
	language := schema.MustAttributeOf[string](profile, "language")
	emails := schema.MustAttributeOf[string](profile, "emails")

	clock := day(1)
	acme, done := newTenant(&clock)
	defer done()
	for _, receipt := range must(acme.ApplyBatch(ctx, sgam.Batch{Episodes: []sgam.Episode{said("e1", 1)}, Deltas: []sgam.MemoryDelta{
		language.Assert("mira", "pt", day(1)).FromID("e1"),
		emails.Assert("mira", "mira@example.org", day(1)).FromID("e1"),
		language.Assert("tom", "xx", day(1)).FromID("e1"),
	}})) {
		fmt.Println(receipt.Outcome)
	}
	fmt.Println(emails.Name())
	// Output:
	// applied
	// applied
	// rejected
	// profile_emails
}

func ExampleLedger_Register() {
	clock := day(1)
	ledger, done := newLedger(&clock)
	defer done()

	document := must(schema.ParseDocument([]byte(`{
		"type": "booking", "version": 1,
		"attributes": [
			{"tag": 1, "name": "seat", "schema": {"type": "string", "pattern": "^[0-9]{1,2}[A-F]$"}},
			{"tag": 2, "name": "meal", "schema": {"enum": ["none", "vegan", "standard"]}, "conflict_policy": "confirm_first"}
		]
	}`)))
	if err := ledger.Register(ctx, document); err != nil {
		panic(err)
	}

	acme := must(ledger.Tenant("acme"))
	delta := sgam.MemoryDelta{Op: sgam.Assert, Subject: "booking-17", Attribute: "seat", Value: json.RawMessage(`"12C"`)}
	fmt.Println(must(acme.Apply(ctx, delta.From(said("e1", 1)))).Outcome)
	// Output:
	// applied
}
