package postgres

import (
	"context"
	"fmt"

	"github.com/sgam-ledger/sgam"
)

var (
	stVersions          = named("versions")
	stVersionAttributes = named("version_attributes")
	stNextRevision      = named("next_revision")
	stVersion           = named("version")
	stLensUser          = named("lens_user")
	stNamesTaken        = named("names_taken")
	stAttributesOfType  = named("attributes_of_type")
	stNextNumbers       = named("next_numbers")
	stAddType           = named("add_type")
	stAddVersion        = named("add_version")
	stReplaceDraft      = named("replace_draft")
	stFreezeVersion     = named("freeze_version")
	stAddAttribute      = named("add_attribute")
	stAddVersionAttr    = named("add_version_attribute")
	stAddAttributeName  = named("add_attribute_name")
	stAddLens           = named("add_lens")
	stSetRegistrar      = named("set_registrar")
)

// Types lists the registry.
func (s *store) Types(ctx context.Context) (stored []sgam.StoredType, err error) {
	type version struct{ typ, version int64 }
	err = s.reading(ctx, func(c *session) error {
		stored = nil
		at := map[version]int{}
		c.begin(stBeginRead)
		c.add(func(r row) error {
			at[version{r.int(0), r.int(2)}] = len(stored)
			stored = append(stored, r.from(1).Type())
			return nil
		}, stVersions)
		c.add(func(r row) error {
			t := &stored[at[version{r.int(0), r.int(1)}]]
			id := sgam.AttributeID(r.int(2))
			if n := len(t.IDs); n > 0 && t.IDs[n-1] == id {
				t.Attributes[n-1].Aliases = append(t.Attributes[n-1].Aliases, r.text(5))
				return nil
			}
			t.IDs = append(t.IDs, id)
			t.Attributes = append(t.Attributes, sgam.AttributeName{Tag: int(r.int(3)), Many: r.flag(4), Name: r.text(5)})
			return nil
		}, stVersionAttributes)
		c.end(stCommit)
		return c.run(ctx)
	})
	return stored, err
}

// Register stores one schema version. A draft may be replaced, a frozen version never.
func (s *store) Register(ctx context.Context, doc sgam.TypeDocument) error {
	switch {
	case s.readOnly:
		return sgam.ErrReadOnly
	case s.joint != nil:
		return fmt.Errorf("%w: postgres: a schema version is registered outside of the caller's transaction", sgam.ErrUnsupported)
	}
	err := s.reading(ctx, func(c *session) error {
		reg := registration{session: c, doc: &doc}
		changed, err := reg.run(ctx)
		if err != nil {
			return err
		}
		// When the answer is lost, the next attempt finds what this one stored.
		if changed {
			c.end(stCommit)
		} else {
			c.end(stRollback)
		}
		return c.run(ctx)
	})
	if err != nil && isBroken(err) {
		return fmt.Errorf("%w: %w", sgam.ErrOutcomeUnknown, err)
	}
	return err
}

// registration stores one version in a transaction that holds the registry.
type registration struct {
	*session
	doc      *sgam.TypeDocument
	revision int64
	typ      int64 // 0 while the type is not stored
	newest   int64
	have     *string // the semantic digest of the version, nil when it is not stored
	draft    bool
	lens     string // the digest of the version's newest lens, empty for none
}

// run queues what is to be stored and reports whether there is anything.
func (g *registration) run(ctx context.Context) (bool, error) {
	g.begin(stBeginWrite)
	g.nextRevision()
	g.add(func(r row) error {
		g.typ, g.newest, g.draft, g.lens = r.int(0), r.int(1), r.flag(2), r.text(4)
		if !r.null(3) {
			semantic := r.text(3)
			g.have = &semantic
		}
		return nil
	}, stVersion, g.doc.Type, g.doc.Version)
	if err := g.session.run(ctx); err != nil {
		return false, err
	}
	doc := g.doc
	switch {
	case g.have != nil && *g.have == doc.Semantic && g.draft == doc.Draft:
		return g.keepLens(ctx)
	case g.have != nil && !g.draft:
		return false, fmt.Errorf("%w: type %q version %d", sgam.ErrSchemaDrift, doc.Type, doc.Version)
	case g.have == nil && int64(doc.Version) != g.newest+1:
		return false, fmt.Errorf("%w: type %q version %d after %d", sgam.ErrSchemaGap, doc.Type, doc.Version, g.newest)
	}
	if err := g.store(ctx); err != nil {
		return false, err
	}
	if doc.Lens != nil && doc.Lens.Hash != g.lens {
		g.nextRevision()
		if err := g.session.run(ctx); err != nil {
			return false, err
		}
	}
	_, err := g.keepLens(ctx)
	return true, err
}

// nextRevision takes the next revision, and with it the registry until the transaction ends.
func (g *registration) nextRevision() {
	g.add(func(r row) error { g.revision = r.int(0); return nil }, stNextRevision)
}

// store queues the version with its attributes and names.
func (g *registration) store(ctx context.Context) error {
	doc := g.doc
	var names []string
	for i := range doc.Attributes {
		names = append(append(names, doc.Attributes[i].Name), doc.Attributes[i].Aliases...)
	}
	type owner struct{ typ, tag int64 }
	taken, ids := map[string][]owner{}, map[int64]int64{}
	var nextType, nextAttribute int64
	g.add(func(r row) error { taken[r.text(0)] = append(taken[r.text(0)], owner{r.int(1), r.int(2)}); return nil }, stNamesTaken,
		append([]string{}, names...), g.typ, doc.Version)
	g.add(func(r row) error { ids[r.int(0)] = r.int(1); return nil }, stAttributesOfType, g.typ)
	g.add(func(r row) error { nextType, nextAttribute = r.int(0), r.int(1); return nil }, stNextNumbers)
	if err := g.session.run(ctx); err != nil {
		return err
	}
	if g.typ == 0 {
		g.typ = nextType
		g.add(nil, stAddType, g.typ, doc.Type)
	}
	st := stAddVersion
	if g.have != nil {
		st = stReplaceDraft
	}
	g.add(nil, st, g.typ, doc.Version, doc.JSON, doc.Hash, doc.Semantic, g.revision)
	for position := range doc.Attributes {
		a := &doc.Attributes[position]
		mine := owner{g.typ, int64(a.Tag)}
		id := ids[int64(a.Tag)]
		if id == 0 {
			id = nextAttribute
			nextAttribute++
			ids[int64(a.Tag)] = id
			g.add(nil, stAddAttribute, id, g.typ, a.Tag)
		}
		g.add(nil, stAddVersionAttr, g.typ, doc.Version, g.revision, position, id, a.Many)
		for place, name := range append([]string{a.Name}, a.Aliases...) {
			for _, o := range taken[name] {
				if o == mine {
					continue
				}
				return fmt.Errorf("sgam: register type %q version %d: %w", doc.Type, doc.Version,
					&sgam.FieldError{Field: "attributes/" + a.Name, Rule: "unique", Want: "a name that no other attribute has"})
			}
			taken[name] = append(taken[name], mine)
			g.add(nil, stAddAttributeName, g.typ, doc.Version, g.revision, position, place, name)
		}
	}
	if !doc.Draft {
		g.add(nil, stFreezeVersion, g.typ, doc.Version)
	}
	return g.session.run(ctx)
}

// keepLens queues the lens of a version, in place of one that no tenant reads or writes through. A document without one
// asks for nothing.
func (g *registration) keepLens(ctx context.Context) (bool, error) {
	doc := g.doc
	if doc.Lens == nil || doc.Lens.Hash == g.lens {
		return false, nil
	}
	used := false
	g.add(nil, stSetRegistrar)
	g.add(func(row) error { used = true; return nil }, stLensUser, g.typ, doc.Version)
	if err := g.session.run(ctx); err != nil {
		return false, err
	}
	if used {
		return false, fmt.Errorf("%w: type %q version %d", sgam.ErrLensInUse, doc.Type, doc.Version)
	}
	g.add(nil, stAddLens, g.typ, doc.Version, g.revision, doc.Lens.JSON, doc.Lens.Hash)
	return true, nil
}
