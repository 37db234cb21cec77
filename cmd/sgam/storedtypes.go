package main

import (
	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/schema"
)

// readableTypes compiles what a ledger holds, for reading. A document that this program does not understand, from a later
// version or from a test's own schemas, judges no value here, so it does not keep the ledger from being read.
type readableTypes struct{ *schema.Registry }

func newReadableTypes() readableTypes { return readableTypes{schema.Stored()} }

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
