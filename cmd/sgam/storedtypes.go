package main

import (
	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/schema"
)

// readableTypes compiles what a ledger holds, for reading. A document that this program does not understand, from a later
// version or from a test's own schemas, judges no value here, so it does not keep the ledger from being read.
type readableTypes struct{ *schema.Registry }

func newReadableTypes() readableTypes { return readableTypes{schema.Stored()} }

// Steps is the registry's; of documents or a lens that it refuses, values are left as they are or not shown.
func (r readableTypes) Steps(older, newer sgam.TypeDocument) ([]sgam.AttributeStep, error) {
	steps, err := r.Registry.Steps(older, newer)
	if err == nil {
		return steps, nil
	}
	steps = nil
	for _, a := range newer.Attributes {
		step := sgam.AttributeStep{Tag: a.Tag}
		if newer.Lens != nil {
			step.Up, step.Down = notUnderstood, notUnderstood
		}
		steps = append(steps, step)
	}
	return steps, nil
}

func notUnderstood(sgam.Converted) (sgam.Converted, error) {
	return sgam.Converted{}, &sgam.FieldError{Rule: "lens", Want: "a lens that this program understands"}
}

// Compile is the registry's; of a document that it refuses, the names are left.
func (r readableTypes) Compile(doc sgam.TypeDocument) ([]sgam.AttributeSpec, error) {
	specs, err := r.Registry.Compile(doc)
	if err == nil {
		return specs, nil
	}
	specs = make([]sgam.AttributeSpec, len(doc.Attributes))
	for i, name := range doc.Attributes {
		specs[i].AttributeName = name
	}
	return specs, nil
}
