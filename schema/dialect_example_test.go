package schema_test

import (
	"fmt"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/schema"
)

// The form goes to the model, and what the model wrote into it becomes deltas. The episode is the program's to say.
func ExampleFor() {
	types := schema.NewRegistry()
	schema.MustDefine[sgam.Date](types, "passport_deadline", 1, nil)
	docs, err := types.Declared()
	if err != nil {
		fmt.Println(err)
		return
	}
	form, err := schema.For(schema.OpenAI, docs...)
	if err != nil {
		fmt.Println(err)
		return
	}
	// form.Schema is what response_format.json_schema.schema wants to be.
	answer := []byte(`{"candidates":[
		{"evidence":"It is now 2026-06-30.","compared":null,"reasoning":"A new day.","contradicts":null,"intent":"correcting","subject":"mira",
		 "statement":{"attribute":"passport_deadline","change":"now_is","value":"2026-06-30"},"valid_from":null,"valid_to":null,"confidence":0.9},
		{"evidence":"","subject":"mira","statement":{"attribute":"passport_deadline","change":"perhaps","value":"2026-07-15"}}]}`)
	candidates, err := form.Decode(answer)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range candidates {
		if c.Err != nil {
			fmt.Println(c.Err)
			continue
		}
		d := c.Delta.FromID("e2")
		fmt.Printf("%s %s.%s = %s, since %q\n", d.Op, d.Subject, d.Attribute, d.Value, d.Provenance.Evidence)
	}
	// Output:
	// assert mira.passport_deadline = "2026-06-30", since "It is now 2026-06-30."
	// sgam: rejected (invalid); candidates/1/statement/change: enum: want one of now_is, was_always, no_longer, never_was
}

// What an endpoint would refuse is named before anything is sent.
func ExampleLint() {
	for _, f := range schema.Lint(schema.Anthropic, []byte(`{
		"type": "object", "additionalProperties": false,
		"properties": {"age": {"type": "integer", "minimum": 0}, "tags": {"type": "object"}}
	}`)) {
		fmt.Println(f.Error())
	}
	// Output:
	// properties/age/minimum: keyword: want the description: say it in words, and judge the answer afterwards
	// properties/tags/additionalProperties: closed: want additionalProperties false
	// properties/tags/properties: properties: want an object with the schema of each property
}
