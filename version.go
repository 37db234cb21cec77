package sgam

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// AttributeStep takes the values of one attribute from a version of its type to the next, and back.
type AttributeStep struct {
	Tag int
	// Up and Down convert a value, which earlier steps may have made, and judge the result by the version that they lead
	// to. Nil: every value of the version that the step begins at goes over as it is. A value that cannot go over is a
	// [*FieldError] whose field is the path in the value.
	Up, Down func(Converted) (Converted, error)
}

// Converted is a value in the shape of some version.
type Converted struct {
	// Value is canonical JSON.
	Value []byte
	// Lossy says that something of the recorded value is not in it: the way back would not find it.
	Lossy bool
	// Defaulted are the JSON pointers of what lenses filled in, and nobody said. Nil: nothing.
	Defaulted []string
}

// lineage is every version of one memory type and the way between them. Index 0 is version 1.
type lineage struct {
	forms []map[AttributeID]*attribute
	// steps lead from the version before into this one.
	steps []map[AttributeID]*AttributeStep
	// groups number runs of versions each of which reads the values of the older ones as they stand.
	groups []int
	lenses []string // hashes, "" for none
}

// grow adds the next version.
func (f *lineage) grow(forms map[AttributeID]*attribute, steps map[AttributeID]*AttributeStep, lens string) {
	group := 0
	if n := len(f.groups); n > 0 {
		group = f.groups[n-1]
		for _, s := range steps {
			if s.Up != nil {
				group++
				break
			}
		}
	}
	f.forms, f.steps = append(f.forms, forms), append(f.steps, steps)
	f.groups, f.lenses = append(f.groups, group), append(f.lenses, lens)
}

func (f *lineage) newest() int { return len(f.forms) }

// lensed reports whether some values of the type must be converted between versions.
func (f *lineage) lensed() bool { return f.groups[len(f.groups)-1] > 0 }

// form is an attribute as a version has it, nil when it does not.
func (f *lineage) form(version int, id AttributeID) *attribute {
	if version < 1 || version > len(f.forms) {
		return nil
	}
	return f.forms[version-1][id]
}

// nearest is the version next to the given one that has the attribute.
func (f *lineage) nearest(version int, id AttributeID) int {
	for d := range len(f.forms) {
		if f.form(version-d, id) != nil {
			return version - d
		}
		if f.form(version+d, id) != nil {
			return version + d
		}
	}
	return version
}

// same reports whether an attribute's values in one version are read as the other's without a lens.
func (f *lineage) same(id AttributeID, a, b int) bool {
	if f.groups[a-1] == f.groups[b-1] {
		return true
	}
	for v := min(a, b); v < max(a, b); v++ {
		if step := f.steps[v][id]; step != nil && step.Up != nil {
			return false
		}
	}
	return true
}

// ahead is the newest version that reads the values of the given one as they stand.
func (f *lineage) ahead(version int) int {
	for version < len(f.groups) && f.groups[version] == f.groups[version-1] {
		version++
	}
	return version
}

// path names the lenses between two versions, "-" for a step without one.
func (f *lineage) path(from, to int) string {
	var names []string
	for v := min(from, to) + 1; v <= max(from, to); v++ {
		name := f.lenses[v-1]
		if name == "" {
			name = "-"
		}
		names = append(names, name)
	}
	return strings.Join(names, "+")
}

// convert takes a value from one version to another, step by step.
func (f *lineage) convert(id AttributeID, from, to int, c Converted) (Converted, error) {
	for v := from; v != to; {
		next := v + 1
		if to < from {
			next = v - 1
		}
		step := f.steps[max(v, next)-1][id]
		if step == nil {
			return Converted{}, fault("", "version", fmt.Sprintf("an attribute that version %d has", next))
		}
		way := step.Up
		if to < from {
			way = step.Down
		}
		if v = next; way == nil {
			continue
		}
		made, err := way(c)
		if err != nil {
			return Converted{}, err
		}
		made.Lossy = made.Lossy || c.Lossy
		c = made
	}
	return c, nil
}

// lineageOf is the lineage of a memory type, nil when it is not registered.
func (l *Ledger) lineageOf(typ string) *lineage {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.catalog.types[typ]
}

// converts reports whether values of some type must be converted between versions.
func (l *Ledger) converts() bool {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.catalog.lensed
}

// form is an attribute as a version of its type has it, nil when it does not.
func (l *Ledger) form(id AttributeID, version int) *attribute {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if a := l.catalog.byID[id]; a != nil {
		return l.catalog.types[a.typ].form(version, id)
	}
	return nil
}

// path names the lenses by which a value of an attribute was converted.
func (l *Ledger) path(attribute string, from, to int) string {
	l.mu.RLock()
	defer l.mu.RUnlock()
	a := l.catalog.byName[attribute]
	if a == nil {
		return ""
	}
	return l.catalog.types[a.typ].path(from, to)
}

// Convert shows what a value of an attribute becomes in another version of its memory type: value is canonical JSON in
// the shape of version from. A value that cannot go over is a [*FieldError] with the path in the value; an attribute that
// one of the versions does not have is ErrNotFound.
func (l *Ledger) Convert(ctx context.Context, attribute string, from, to int, value []byte) (Converted, error) {
	f, a, err := l.between(ctx, attribute, from, to)
	if err != nil {
		return Converted{}, err
	}
	return f.convert(a.id, from, to, Converted{Value: value})
}

// between finds an attribute that two versions must have.
func (l *Ledger) between(ctx context.Context, attribute string, versions ...int) (*lineage, *attribute, error) {
	a, err := l.attribute(ctx, attribute)
	if err != nil {
		return nil, nil, err
	}
	if a == nil {
		return nil, nil, fmt.Errorf("%w: attribute %q", ErrNotFound, attribute)
	}
	f := l.lineageOf(a.typ)
	for _, v := range versions {
		if f.form(v, a.id) == nil {
			return nil, nil, fmt.Errorf("%w: attribute %q in version %d of type %q", ErrNotFound, attribute, v, a.typ)
		}
	}
	return f, a, nil
}

// AtVersion is the same view with the facts of one memory type in the shape of a version. Without it they have the
// shape that the tenant's epoch reads at the view's known time. A typed reader asks for its own version by itself.
//
// Fact.SchemaVersion and Fact.StoredVersion say what was converted. A fact that has no form in the version is an
// [*UnmigratedError]. Versions of which the newer read the older ones' values as they stand are one shape: a reader of an
// older one of them is shown what a newer one wrote as it is, an added property or another word of an enumeration too.
func (v View) AtVersion(memoryType string, version int) View {
	shapes := make(map[string]int, len(v.shapes)+1)
	for typ, n := range v.shapes {
		shapes[typ] = n
	}
	shapes[memoryType] = version
	return View{t: v.t, scopes: v.scopes, pin: v.pin, shapes: shapes}
}

// checkShapes judges the versions that the view asks for.
func (v View) checkShapes() *FieldError {
	for typ, version := range v.shapes {
		f := v.t.l.lineageOf(typ)
		if f == nil {
			return fault("memory_type", "unknown", "a registered memory type")
		}
		if version < 1 || version > f.newest() {
			return fault("schema_version", "range", fmt.Sprintf("a version from 1 to %d", f.newest()))
		}
	}
	return nil
}

// shape brings a row's value into the version that the view shows. Of a type whose versions all read one another as they
// stand, values are shown as recorded. The first result says that the fact has no form in that version.
func (v View) shape(r *Row, epochs []Epoch) (unread, err error) {
	f := &r.Fact
	if len(f.Value) == 0 || r.Erased || f.Absent() {
		return nil, nil
	}
	l := v.t.l
	l.mu.RLock()
	a := l.catalog.byID[r.Slot.Attribute]
	var line *lineage
	if a != nil {
		line = l.catalog.types[a.typ]
	}
	l.mu.RUnlock()
	if line == nil || !line.lensed() || f.SchemaVersion > line.newest() {
		return nil, nil
	}
	reads := f.SchemaVersion
	for _, e := range epochs {
		if e.Type == a.typ {
			reads = e.Read // they are in order of known time
		}
	}
	reads = line.nearest(reads, a.id)
	asked := reads
	if n := v.shapes[a.typ]; n != 0 {
		asked = line.nearest(n, a.id)
	}
	forms := append([]Encoding{{Version: f.SchemaVersion, Value: f.Value}}, r.Encodings...)
	r.shown = asked
	stored := pick(line, a.id, forms, asked)
	if stored == nil && l.opts.Schemas == nil {
		return nil, fmt.Errorf("%w: to show type %q in version %d", ErrNoSchemas, a.typ, asked)
	}
	if stored == nil && line.same(a.id, asked, reads) {
		return v.unmigrated(r, a, asked, nil), nil
	}
	if stored == nil {
		stored = &forms[0] // nothing was lost on the way to what was recorded
		made, err := line.convert(a.id, stored.Version, asked, Converted{stored.Value, stored.Lossy, stored.Defaulted})
		if reason, ok := errors.AsType[*FieldError](err); ok {
			return v.unmigrated(r, a, asked, reason), nil
		}
		if err != nil {
			return nil, err
		}
		f.Value, f.SchemaVersion, f.StoredVersion = made.Value, asked, stored.Version
		f.Lossy, f.Defaulted = made.Lossy, made.Defaulted
		return nil, nil
	}
	f.Value, f.SchemaVersion, f.StoredVersion = stored.Value, stored.Version, stored.Version
	f.Lossy, f.Defaulted = stored.Lossy, stored.Defaulted
	return nil, nil
}

// unmigrated takes the value off a row that has none in the asked version.
func (v View) unmigrated(r *Row, a *attribute, asked int, reason *FieldError) error {
	e := &UnmigratedError{
		Memory: r.Fact.ID, Subject: r.Slot.Subject, Attribute: a.Name, Stored: r.Fact.SchemaVersion, Asked: asked, Reason: reason,
	}
	r.Fact.Value = nil
	return e
}

// pick finds the form that a version reads as it stands: the recorded one, or the newest of the others.
func pick(line *lineage, id AttributeID, forms []Encoding, version int) *Encoding {
	for i := range forms {
		n := i
		if i > 0 {
			n = len(forms) - i
		}
		if forms[n].Version <= line.newest() && line.same(id, forms[n].Version, version) {
			return &forms[n]
		}
	}
	return nil
}

// shape is the first version that reads the values of the given one as they stand.
func (f *lineage) shape(id AttributeID, version int) int {
	for version > 1 {
		if step := f.steps[version-1][id]; step == nil || step.Up != nil {
			return version
		}
		version--
	}
	return 1
}
