package schema_test

import (
	"fmt"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/schema"
)

// A program's build checks the version that it is about to add against those that it has released.
func ExampleCheck() {
	released, err := schema.ParseDocument([]byte(`{"type": "order", "version": 1, "attributes": [
		{"tag": 1, "name": "order_status", "schema": {"enum": ["open", "paid"]}}]}`))
	if err != nil {
		panic(err)
	}
	next, err := schema.ParseDocument([]byte(`{"type": "order", "version": 2, "attributes": [
		{"tag": 1, "name": "order_status", "schema": {"enum": ["open", "paid", "sent"]}}]}`))
	if err != nil {
		panic(err)
	}
	report, err := schema.Check(schema.ModeFullTransitive, []sgam.TypeDocument{released}, next, nil)
	if err != nil {
		panic(err)
	}
	fmt.Println(report.OK)
	for _, f := range report.Compared[0].Findings {
		fmt.Println(f.Rule, f.Path, "backward", f.Backward, "forward", f.Forward)
		fmt.Println(f.Advice)
	}
	// Output:
	// false
	// SC12 attributes/1/schema/enum backward ok forward lens
	// add an enum fallback to the lens's way down: which old value stands for the new one
}
