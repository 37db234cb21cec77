//go:build cgo

package sqlite

import (
	"context"
	"fmt"

	"github.com/sgam-ledger/sgam"
)

var (
	stRegistryRevision  = named("registry_revision")
	stVersions          = named("versions")
	stVersionAttributes = named("version_attributes")
	stAttributeNames    = named("attribute_names")
	stTypeByName        = named("type_by_name")
	stVersion           = named("version")
	stNameTaken         = named("name_taken")
	stAddType           = named("add_type")
	stAddVersion        = named("add_version")
	stFreezeVersion     = named("freeze_version")
	stDropDraftNames    = named("drop_draft_names")
	stDropDraftAttrs    = named("drop_draft_attributes")
	stDropDraft         = named("drop_draft")
	stAttributeByTag    = named("attribute_by_tag")
	stAddAttribute      = named("add_attribute")
	stAddVersionAttr    = named("add_version_attribute")
	stAddAttributeName  = named("add_attribute_name")
)

// Types lists the registry.
func (s *store) Types(ctx context.Context) (stored []sgam.StoredType, err error) {
	c, done, err := s.reader(ctx)
	if err != nil {
		return nil, err
	}
	run := session{conn: c, ctx: ctx}
	err = done(run.inTransaction(func() error {
		stored, err = run.types()
		return err
	}))
	return stored, err
}

func (s *session) types() ([]sgam.StoredType, error) {
	var stored []sgam.StoredType
	var ids []int64
	err := s.each(func(p *running) error {
		ids = append(ids, p.int(0))
		stored = append(stored, p.from(1).Type())
		return nil
	}, stVersions)
	if err != nil {
		return nil, err
	}
	for i, id := range ids {
		if err := s.attributes(id, &stored[i]); err != nil {
			return nil, err
		}
	}
	return stored, nil
}

// attributes fills in the attributes of one version, in the order of its document.
func (s *session) attributes(typ int64, t *sgam.StoredType) error {
	at := map[int64]int{}
	err := s.each(func(p *running) error {
		at[p.int(0)] = len(t.Attributes)
		t.IDs = append(t.IDs, sgam.AttributeID(p.int(1)))
		t.Attributes = append(t.Attributes, sgam.AttributeName{Tag: int(p.int(2)), Many: p.int(3) == 1})
		return nil
	}, stVersionAttributes, typ, int64(t.Version))
	if err != nil {
		return err
	}
	return s.each(func(p *running) error {
		a := &t.Attributes[at[p.int(0)]]
		if a.Name == "" {
			a.Name = p.text(1)
		} else {
			a.Aliases = append(a.Aliases, p.text(1))
		}
		return nil
	}, stAttributeNames, typ, int64(t.Version))
}

// Register stores one schema version. A draft may be replaced, a frozen version never.
func (s *store) Register(ctx context.Context, doc sgam.TypeDocument) error {
	if s.readOnly {
		return sgam.ErrReadOnly
	}
	g := &s.writes
	select {
	case <-g.turn:
	case <-ctx.Done():
		return busy(ctx)
	}
	defer func() { g.turn <- struct{}{} }()
	if g.isClosed() {
		return sgam.ErrClosed
	}
	if err := g.begin(ctx, ""); err != nil {
		return err
	}
	run := session{conn: g.conn, ctx: ctx}
	changed, err := run.register(&doc)
	if err != nil || !changed {
		g.rollback()
		return err
	}
	return g.commit(func(c *conn) (bool, error) {
		again := session{conn: c, ctx: uninterrupted}
		typ, have, _, err := again.version(&doc)
		if err != nil || have == nil || *have != doc.Semantic {
			return false, err
		}
		same, err := again.hasLens(typ, &doc)
		return same, err
	})
}

// version finds a type, its newest version, and the semantic digest of the document's version, nil when there is none.
func (s *session) version(doc *sgam.TypeDocument) (typ int64, semantic *string, draft bool, err error) {
	p, err := s.one(stTypeByName, doc.Type)
	if err != nil || p == nil {
		return 0, nil, false, err
	}
	typ = p.int(0)
	if p, err = s.one(stVersion, typ, int64(doc.Version)); err != nil || p == nil {
		return typ, nil, false, err
	}
	have := p.text(1)
	return typ, &have, p.int(0) == 1, nil
}

// register stores a version and reports whether that changed anything.
func (s *session) register(doc *sgam.TypeDocument) (bool, error) {
	typ, have, draft, err := s.version(doc)
	if err != nil {
		return false, err
	}
	switch {
	case have != nil && *have == doc.Semantic && draft == doc.Draft:
		return s.keepLens(typ, doc)
	case have != nil && !draft:
		return false, fmt.Errorf("%w: type %q version %d", sgam.ErrSchemaDrift, doc.Type, doc.Version)
	case have == nil:
		if err := s.isNext(doc); err != nil {
			return false, err
		}
	}
	revision, err := s.revision() // before a draft that is replaced goes
	if err != nil {
		return false, err
	}
	if typ == 0 {
		p, err := s.one(stAddType, doc.Type)
		if err != nil {
			return false, err
		}
		typ = p.int(0)
	}
	if have != nil {
		for _, st := range []*statement{stDropDraftNames, stDropDraftAttrs, stDropDraft} {
			if err := s.exec(st, typ, int64(doc.Version)); err != nil {
				return false, err
			}
		}
	}
	if err := s.exec(stAddVersion, typ, int64(doc.Version), blob(string(doc.JSON)), doc.Hash, doc.Semantic, revision+1); err != nil {
		return false, err
	}
	for i := range doc.Attributes {
		if err := s.addAttribute(typ, doc, i); err != nil {
			return false, err
		}
	}
	if !doc.Draft {
		if err := s.exec(stFreezeVersion, typ, int64(doc.Version)); err != nil {
			return false, err
		}
	}
	_, err = s.keepLens(typ, doc)
	return true, err
}

// revision is the highest of the registry.
func (s *session) revision() (int64, error) {
	p, err := s.one(stRegistryRevision)
	if err != nil {
		return 0, err
	}
	return p.int(0), nil
}

// isNext checks that a new version is the one after the newest.
func (s *session) isNext(doc *sgam.TypeDocument) error {
	p, err := s.one(stTypeByName, doc.Type)
	if err != nil {
		return err
	}
	newest := int64(0)
	if p != nil {
		newest = p.int(1)
	}
	if int64(doc.Version) != newest+1 {
		return fmt.Errorf("%w: type %q version %d after %d", sgam.ErrSchemaGap, doc.Type, doc.Version, newest)
	}
	return nil
}

// addAttribute stores the attribute at a position of a version. It keeps the id that its type and tag already have.
func (s *session) addAttribute(typ int64, doc *sgam.TypeDocument, position int) error {
	a := &doc.Attributes[position]
	p, err := s.one(stAttributeByTag, typ, int64(a.Tag))
	if err == nil && p == nil {
		p, err = s.one(stAddAttribute, typ, int64(a.Tag))
	}
	if err != nil {
		return err
	}
	id := p.int(0)
	err = s.exec(stAddVersionAttr, typ, int64(doc.Version), int64(position), id, flag(a.Many))
	if err != nil {
		return err
	}
	for place, name := range append([]string{a.Name}, a.Aliases...) {
		err := s.each(func(p *running) error {
			if p.int(0) == typ && p.int(1) == int64(a.Tag) {
				return nil
			}
			return fmt.Errorf("sgam: register type %q version %d: %w", doc.Type, doc.Version,
				&sgam.FieldError{Field: "attributes/" + a.Name, Rule: "unique", Want: "a name that no other attribute has"})
		}, stNameTaken, name)
		if err != nil {
			return err
		}
		if err := s.exec(stAddAttributeName, typ, int64(doc.Version), int64(position), int64(place), name); err != nil {
			return err
		}
	}
	return nil
}
