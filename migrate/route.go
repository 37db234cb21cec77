package migrate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/schema"
)

// route is the way from one version of a memory type to another, as the registry has it.
type route struct {
	typ      string
	from, to int
	// docs are all versions of the type, changed the attributes whose values a version does not read as they stood in the
	// one before. Index 0 is version 1.
	docs    []sgam.StoredType
	changed []map[sgam.AttributeID]bool
	attrs   map[sgam.AttributeID]*attribute
	// names are all names and aliases of every version.
	names map[string]sgam.AttributeID
}

// attribute is what a migration knows of one attribute.
type attribute struct {
	// open says that no version asks for its values to be masked.
	open bool
	// inFrom and inTo say which of the two versions have it.
	inFrom, inTo bool
	// check judges a value by the version that is migrated from, when that one has the attribute.
	check func(value []byte) []sgam.FieldError
}

// readRoute reads the registry. With to 0 it is the newest version; with from 0 the way is only good for finding epochs.
func readRoute(ctx context.Context, l *sgam.Ledger, typ string, from, to int) (*route, error) {
	all, err := l.Types(ctx)
	if err != nil {
		return nil, err
	}
	r := &route{typ: typ, from: from, to: to, attrs: map[sgam.AttributeID]*attribute{}, names: map[string]sgam.AttributeID{}}
	for i := range all {
		if all[i].Type == typ && !all[i].Draft { // a draft takes no facts
			r.docs = append(r.docs, all[i])
		}
	}
	if len(r.docs) == 0 {
		return nil, &sgam.FieldError{Field: "type", Rule: "unknown", Want: "a registered memory type"}
	}
	if r.to == 0 {
		r.to = len(r.docs)
	}
	if r.to < 1 || r.to > len(r.docs) || r.from < 0 || r.from >= r.to && r.from != 0 {
		return nil, &sgam.FieldError{Field: "to", Rule: "range", Want: fmt.Sprintf("a version up to %d, after the one that is migrated from", len(r.docs))}
	}
	return r, r.read()
}

// read compiles the documents and the steps between them.
func (r *route) read() error {
	stored := schema.Stored()
	r.changed = make([]map[sgam.AttributeID]bool, len(r.docs))
	for n := range r.docs {
		specs, err := stored.Compile(r.docs[n].TypeDocument)
		if err != nil {
			return err
		}
		for i, spec := range specs {
			id := r.docs[n].IDs[i]
			a := r.attrs[id]
			if a == nil {
				a = &attribute{open: true}
				r.attrs[id] = a
			}
			for _, name := range append([]string{spec.Name}, spec.Aliases...) {
				r.names[name] = id
			}
			a.open = a.open && (spec.Sensitivity == "public" || spec.Sensitivity == "internal")
			if n+1 == r.from {
				a.inFrom, a.check = true, spec.Check
			}
			a.inTo = a.inTo || n+1 == r.to
		}
		if n == 0 {
			continue
		}
		r.changed[n] = map[sgam.AttributeID]bool{}
		steps, err := stored.Steps(r.docs[n-1].TypeDocument, r.docs[n].TypeDocument)
		if err != nil {
			return err
		}
		for _, s := range steps {
			if s.Up != nil {
				at := slices.IndexFunc(r.docs[n].Attributes, func(a sgam.AttributeName) bool { return a.Tag == s.Tag })
				r.changed[n][r.docs[n].IDs[at]] = true
			}
		}
	}
	return nil
}

// same reports whether an attribute's values in one version are read as the other's as they stand.
func (r *route) same(id sgam.AttributeID, a, b int) bool {
	for v := min(a, b); v < max(a, b); v++ {
		if r.changed[v][id] {
			return false
		}
	}
	return true
}

// alike reports whether that holds for every attribute.
func (r *route) alike(a, b int) bool {
	for v := min(a, b); v < max(a, b); v++ {
		if len(r.changed[v]) > 0 {
			return false
		}
	}
	return true
}

// resolved is the epoch that an epoch amounts to: outside of a migration, writers move on to the newest version that reads
// the older values as they stand.
func (r *route) resolved(e sgam.Epoch) sgam.Epoch {
	if e.Second != 0 || e.Write == 0 {
		return e
	}
	for _, v := range []*int{&e.Read, &e.Write} {
		for *v < len(r.docs) && r.alike(*v, *v+1) {
			*v++
		}
	}
	return e
}

// path names the lenses between two versions as encodings name them.
func (r *route) path(from, to int) string {
	var names []string
	for v := min(from, to) + 1; v <= max(from, to); v++ {
		name := "-"
		if lens := r.docs[v-1].Lens; lens != nil {
			name = lens.Hash
		}
		names = append(names, name)
	}
	return strings.Join(names, "+")
}

// form is a fact's value as a version reads it: the recorded one, the newest encoding, or nil.
func (r *route) form(v *sgam.StoredValue, version int) *sgam.Encoding {
	if r.same(v.Slot.Attribute, v.Version, version) {
		return &sgam.Encoding{Version: v.Version, Value: v.Value}
	}
	for i := len(v.Encodings) - 1; i >= 0; i-- {
		if r.same(v.Slot.Attribute, v.Encodings[i].Version, version) {
			return &v.Encodings[i]
		}
	}
	return nil
}

// fate is what a migration does with a fact.
type fate int

const (
	converts fate = iota // a lens has to make its form
	recorded             // it was recorded in a version that the new one reads as it stands
	encoded              // its form is there, made by the lenses that are in force
	removed              // the new version does not have its attribute
	erased               // there is nothing left of it
)

func (r *route) fate(v *sgam.StoredValue) fate {
	a := r.attrs[v.Slot.Attribute]
	switch {
	case v.Erased:
		return erased
	case a == nil || !a.inTo:
		return removed
	case r.same(v.Slot.Attribute, v.Version, r.to):
		return recorded
	}
	if e := r.form(v, r.to); e != nil && e.Lens == r.path(v.Version, e.Version) {
		return encoded
	}
	return converts
}

// steps are the versions after from up to to, as they stand now.
func (r *route) steps() []Step {
	steps := make([]Step, 0, r.to-r.from)
	for v := r.from + 1; v <= r.to; v++ {
		s := Step{Version: v, Document: r.docs[v-1].Hash}
		if lens := r.docs[v-1].Lens; lens != nil {
			s.Lens = lens.Hash
		}
		steps = append(steps, s)
	}
	return steps
}

// moved names the first difference between what was planned and what stands, empty when there is none.
func (r *route) moved(base string, planned []Step) string {
	if r.docs[r.from-1].Hash != base {
		return fmt.Sprintf("document of version %d", r.from)
	}
	for i, now := range r.steps() {
		switch {
		case i >= len(planned) || planned[i].Document != now.Document:
			return fmt.Sprintf("document of version %d", now.Version)
		case planned[i].Lens != now.Lens:
			return fmt.Sprintf("lens into version %d", now.Version)
		}
	}
	return ""
}

// knows tells whether the registry still has the versions of a plan or record.
func (r *route) knows(version int) bool { return version >= 1 && version <= len(r.docs) }
