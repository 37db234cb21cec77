package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/schema"
)

// withLenses gives the documents the lenses in some files, before the ledger is touched. A lens into a version that only the
// ledger has brings that version along.
func (p *program) withLenses(ctx context.Context, docs []sgam.TypeDocument, names []string) ([]sgam.TypeDocument, error) {
	there, err := p.examine()
	if err != nil {
		return nil, err
	}
	var stored []sgam.TypeDocument
	if there || len(docs) == 0 {
		if stored, err = p.storedDocuments(ctx); err != nil {
			return nil, err
		}
	}
	return p.attachLenses(docs, stored, names)
}

// attachLenses gives documents, and those of the ledger or of older versions, the lenses in some files.
func (p *program) attachLenses(docs, stored []sgam.TypeDocument, names []string) ([]sgam.TypeDocument, error) {
	for _, name := range names {
		raw, err := p.schemaFile(name)
		if err != nil {
			return nil, err
		}
		var head struct {
			Type    string `json:"type"`
			Version int    `json:"version"`
		}
		if json.Unmarshal(raw, &head) != nil || head.Type == "" || head.Version < 2 {
			return nil, usage("%s: want the JSON document of a lens, with the type and the version from 2 on that it leads to", name)
		}
		at := func(version int) func(sgam.TypeDocument) bool {
			return func(doc sgam.TypeDocument) bool { return doc.Type == head.Type && doc.Version == version }
		}
		all := slices.Concat(docs, stored) // a file stands before what the ledger has
		older, newer := slices.IndexFunc(all, at(head.Version-1)), slices.IndexFunc(all, at(head.Version))
		missing := 0
		switch {
		case newer < 0:
			missing = head.Version
		case older < 0:
			missing = head.Version - 1
		}
		if missing > 0 {
			return nil, &verdict{code: exitNo, line: fmt.Sprintf("%s: no memory type %q with version %d among the files, or in the ledger",
				name, head.Type, missing)}
		}
		lens, err := schema.ParseLens(raw, all[older], all[newer])
		if _, ok := errors.AsType[*schema.DocumentError](err); ok {
			return nil, usage("%s: %s", name, faultText(err))
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if newer >= len(docs) {
			docs = append(docs, all[newer])
			newer = len(docs) - 1
		}
		docs[newer].Lens = &lens
	}
	return docs, nil
}

// lensOf is the hash of the lens into a version, empty without one.
func lensOf(doc *sgam.TypeDocument) string {
	if doc.Lens == nil {
		return ""
	}
	return doc.Lens.Hash
}

// registered says what registering a version did, beside what the ledger had of it; nil is nothing.
func registered(doc, had *sgam.TypeDocument) string {
	lens := lensOf(doc)
	switch {
	case had == nil && lens != "":
		return "registered " + versionName(*doc) + " with a lens: " + attributeNames(*doc)
	case had == nil:
		return "registered " + versionName(*doc) + ": " + attributeNames(*doc)
	case lens == "":
		return "already there: " + versionName(*doc) + ": " + attributeNames(*doc)
	case lensOf(had) == "":
		return "registered the lens into " + versionName(*doc)
	case lensOf(had) != lens:
		return "replaced the lens into " + versionName(*doc)
	}
	return "already there: the lens into " + versionName(*doc)
}

// registeredJSON is one line of schema add and schema list.
type registeredJSON struct {
	typeJSON
	// Lens is the hash of the lens into the version.
	Lens string `json:"lens,omitempty"`
}

func registeredOf(doc *sgam.TypeDocument) registeredJSON {
	return registeredJSON{typeOf(*doc), lensOf(doc)}
}

// showStored prints a stored document, which is canonical JSON; for a person it is indented.
func (p *program) showStored(what string, text []byte) error {
	if p.flags.json {
		p.out.json(json.RawMessage(text))
		return nil
	}
	var b bytes.Buffer
	if err := json.Indent(&b, text, "", "  "); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	for line := range strings.Lines(b.String()) {
		p.out.println(printable(strings.TrimRight(line, "\n")))
	}
	return nil
}
