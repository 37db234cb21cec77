package schema_test

import (
	"fmt"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/schema"
)

// Version 2 has the number as a number, and wants a country that nobody was ever asked for.
func ExampleRegistry_AddLens() {
	reg := schema.NewRegistry()
	for _, doc := range []string{
		`{"type": "phone", "version": 1, "attributes": [{"tag": 1, "name": "phone", "schema": {
			"type": "object", "required": ["nr"], "properties": {"nr": {"type": "string"}, "fax": {"type": "string"}}}}]}`,
		`{"type": "phone", "version": 2, "attributes": [{"tag": 1, "name": "phone", "schema": {
			"type": "object", "required": ["number", "country"],
			"properties": {"number": {"type": "integer"}, "country": {"type": "string"}}}}]}`,
	} {
		if _, err := reg.Add([]byte(doc)); err != nil {
			panic(err)
		}
	}
	err := reg.AddLens([]byte(`{"type": "phone", "version": 2, "attributes": [{"tag": 1, "ops": [
		{"op": "rename_prop", "from": "nr", "to": "number"},
		{"op": "in", "path": "/number", "ops": [{"op": "cast", "from": "string", "to": "integer"}]},
		{"op": "add", "prop": "country", "default": "DE"},
		{"op": "drop", "prop": "fax"}
	]}]}`))
	if err != nil {
		panic(err)
	}

	docs, err := reg.Declared()
	if err != nil {
		panic(err)
	}
	steps, err := reg.Steps(docs[0], docs[1])
	if err != nil {
		panic(err)
	}
	for _, value := range []string{`{"nr":"4711"}`, `{"fax":"4712","nr":"4711"}`, `{"nr":"04711"}`} {
		up, err := steps[0].Up(sgam.Converted{Value: []byte(value)})
		if err != nil {
			fmt.Println("stays behind:", err)
			continue
		}
		fmt.Printf("%s defaulted %v lossy %v\n", up.Value, up.Defaulted, up.Lossy)
	}
	// Output:
	// {"country":"DE","number":4711} defaulted [/country] lossy false
	// {"country":"DE","number":4711} defaulted [/country] lossy true
	// stays behind: nr: spelling: want a whole number as text, as JSON would write it: no spaces, no plus sign, no leading zeros
}
