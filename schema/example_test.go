package schema_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/schema"
)

// A memory type with one attribute of the same name.
func ExampleDefine() {
	types := schema.NewRegistry()
	deadline, err := schema.Define[sgam.Date](types, "passport_deadline", 1, &schema.Spec{
		Retention: "identity_documents", Sensitivity: schema.Personal,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	june3 := time.Date(2026, time.June, 3, 10, 0, 0, 0, time.UTC)
	d := deadline.Assert("mira", sgam.Date{Year: 2026, Month: time.June, Day: 30}, june3)
	fmt.Printf("%s %s.%s = %s\n", d.Op, d.Subject, d.Attribute, d.Value)
	// Output:
	// assert mira.passport_deadline = "2026-06-30"
}

// Rules for a scalar, in the notation of a validate tag. The definition says everything that is wrong with it at once.
func ExampleDefine_rules() {
	types := schema.NewRegistry()
	status := schema.MustDefine[string](types, "ticket_status", 1, &schema.Spec{Rules: "oneof=open closed"})
	fmt.Println(status.Name())

	_, err := schema.Define[map[string]int](types, "stock", 1, nil)
	fmt.Println(err)
	// Output:
	// ticket_status
	// schema: type "stock" version 1; map[string]int: go_type: want a struct, or a slice of structs: the keys of a map are not closed
}

// A memory type with one attribute for each field of a struct.
func ExampleDefineType() {
	type Customer struct {
		Name      string   `json:"name" validate:"required"`
		Language  string   `json:"language" validate:"len=2"`
		Allergies []string `json:"allergies"`
	}
	types := schema.NewRegistry()
	customer, err := schema.DefineType[Customer](types, "customer", 1, &schema.TypeSpec{
		Prefix: "customer_",
		Fields: map[string]*schema.Spec{"allergies": {Many: true, Sensitivity: schema.Special}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	allergy := schema.MustAttributeOf[string](customer, "allergies")
	d := allergy.Assert("mira", "nuts", time.Time{})
	fmt.Printf("%s %s.%s = %s\n", d.Op, d.Subject, d.Attribute, d.Value)
	// Output:
	// assert mira.customer_allergies = "nuts"
}

// The handle of one attribute must have the type of the field.
func ExampleAttributeOf() {
	type Customer struct {
		Born sgam.Date `json:"born"`
	}
	customer := schema.MustDefineType[Customer](schema.NewRegistry(), "customer", 1, nil)
	born, err := schema.AttributeOf[sgam.Date](customer, "born")
	fmt.Println(born.Name(), err)
	_, err = schema.AttributeOf[string](customer, "born")
	fmt.Println(err)
	// Output:
	// born <nil>
	// schema: field "born" of type "customer" is sgam.Date, not string
}

// However a document is written, its canonical form is the same.
func ExampleParseDocument() {
	doc, err := schema.ParseDocument([]byte(`{
		"type": "passport_deadline", "version": 1,
		"attributes": [{"tag": 1, "name": "passport_deadline", "schema": {"type": "string", "format": "date"}}]
	}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(doc.JSON))
	fmt.Println(doc.Hash[:8])
	// Output:
	// {"attributes":[{"cardinality":"one","conflict_policy":"supersede","name":"passport_deadline","schema":{"format":"date","type":"string"},"sensitivity":"internal","tag":1}],"type":"passport_deadline","version":1}
	// cc572adb
}

// What is outside the profile is named, with its place and what to write instead.
func ExampleDocumentError() {
	_, err := schema.ParseDocument([]byte(`{
		"type": "note", "version": 1,
		"attributes": [{"tag": 1, "name": "note", "conflict_policy": "newest",
			"schema": {"type": "object", "properties": {"text": {"type": "string", "not": {"const": ""}}}}}]
	}`))
	if de, ok := errors.AsType[*schema.DocumentError](err); ok {
		for _, f := range de.Faults {
			fmt.Println(f.Error())
		}
	}
	// Output:
	// attributes/0/conflict_policy: enum: want one of supersede, keep_highest_confidence, source_rank, immutable, confirm_first
	// attributes/0/schema/properties/text/not: keyword: want what is allowed, not what is not
}

// A document declared in JSON beside what is declared in Go.
func ExampleRegistry_Add() {
	types := schema.NewRegistry()
	schema.MustDefine[string](types, "home_city", 1, nil)
	_, err := types.Add([]byte(`{"type": "address", "version": 1, "attributes": [{"tag": 1, "name": "home_city", "schema": {"type": "string"}}]}`))
	fmt.Println(err)
	// Output:
	// schema: type "address" version 1; attributes/0/name: unique: want a name of its own: "home_city" is also the name of attribute 1 of type home_city version 1
}

// A value is judged with all its faults at once, in words that a model can act on.
func ExampleRegistry_Compile() {
	type Item struct {
		SKU      string `json:"sku" validate:"required"`
		Quantity int    `json:"quantity" validate:"min=1"`
	}
	types := schema.NewRegistry()
	schema.MustDefine[Item](types, "order_item", 1, &schema.Spec{Many: true, Key: "/sku"})
	docs, err := types.Declared()
	if err != nil {
		fmt.Println(err)
		return
	}
	specs, err := types.Compile(docs[0])
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range specs[0].Check([]byte(`{"colour":"red","quantity":0}`)) {
		fmt.Println(f.Error())
	}
	identity, err := specs[0].Identity([]byte(`{"quantity":2,"sku":"A-1"}`))
	fmt.Println(string(identity), err)
	// Output:
	// colour: additional: want only quantity, sku
	// quantity: minimum: want at least 1
	// sku: required: want a string
	// "A-1" <nil>
}

// A program that declares nothing judges by what the ledger holds.
func ExampleStored() {
	opts := &sgam.Options{Schemas: schema.Stored()}
	docs, err := opts.Schemas.Declared()
	fmt.Println(len(docs), err)
	// Output:
	// 0 <nil>
}
