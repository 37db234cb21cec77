package sgam

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// choice is how the deltas of one call see one memory type: what the ledger remembered as the tenant's epoch, and what
// follows from it. Under the lock the snapshot has the last word.
type choice struct {
	line  *lineage
	epoch Epoch
	// first is the version that the first delta of a tenant without facts of the type is in: there its epochs begin.
	first int
}

// resolved is the epoch that an epoch amounts to: a tenant without facts of the type begins at the version of its first
// delta, or at the newest one, and versions that read the older values as they stand need no migration.
func (f *lineage) resolved(e Epoch, first int) Epoch {
	switch {
	case e.Write == 0 && first != 0:
		e.Read, e.Write = f.ahead(first), f.ahead(first)
	case e.Write == 0:
		e.Read, e.Write = f.newest(), f.newest()
	case e.Second == 0:
		e.Read, e.Write = f.ahead(e.Read), f.ahead(e.Write)
	}
	return e
}

// chosen finds the epoch of a memory type for this call, once.
func (p *submission) chosen(ctx context.Context, typ string, first int) (*choice, error) {
	if c := p.choices[typ]; c != nil {
		return c, nil
	}
	c := &choice{line: p.t.l.lineageOf(typ)}
	if first <= c.line.newest() && !p.accepted {
		c.first = first
	}
	if c.line.lensed() {
		e, err := p.t.epoch(ctx, typ)
		if err != nil {
			return nil, err
		}
		c.epoch = e
	}
	c.epoch = c.line.resolved(c.epoch, c.first)
	p.choices[typ] = c
	p.call.Types = append(p.call.Types, typ)
	return c, nil
}

// choose finds the version that a delta is in, and the one that decides about it.
func (p *submission) choose(ctx context.Context, d *prepared, a *attribute) (*rejection, error) {
	c, err := p.chosen(ctx, a.typ, d.SchemaVersion)
	if err != nil {
		return nil, err
	}
	write, second := c.epoch.Write, c.epoch.Second
	in := d.SchemaVersion
	if in == 0 {
		in = write
		if !c.line.form(write, a.id).named(d.Attribute) && c.line.form(second, a.id).named(d.Attribute) {
			in = second
		}
	}
	d.form = c.line.form(in, a.id)
	now := c.line.form(write, a.id)
	held := p.accepted && in != write // under a version of its time, and by the name that decided then
	older := in < write && d.form != nil && now != nil && c.line.same(a.id, in, write)
	switch {
	case in != write && in != second && !held && !older:
		d.attr = d.form
		return reject(codeVersion, *fault("schema_version", "equal", c.epoch.writable())), nil
	case d.form == nil, in < 1, !p.accepted && !d.form.named(d.Attribute):
		return reject(codeVersion, *fault("attribute", "retired", fmt.Sprintf("a name of version %d of its memory type", in))), nil
	case held && in != second && now == nil:
		return reject(codeVersion, *fault("attribute", "retired", fmt.Sprintf("a name of version %d of its memory type", write))), nil
	}
	d.attr = d.form
	if now != nil {
		d.attr = now
	}
	d.Attribute = d.attr.Name
	return nil, nil
}

// recognise names a delta whose version is not written any more, so that a second delivery of what was applied under it is
// known for what it is.
func (p *submission) recognise(ctx context.Context, d *prepared, repeats map[string]int) error {
	if d.refused.code != codeVersion || d.attr == nil {
		return nil
	}
	again := *d
	if again.judgeValue() != nil {
		return nil
	}
	if refused, err := p.judgeTimes(ctx, &again); refused != nil || err != nil {
		return err
	}
	d.value, d.span = again.value, again.span
	p.name(d, repeats)
	return nil
}

// writable says in words which versions deltas may have.
func (e *Epoch) writable() string {
	if e.Second == 0 {
		return fmt.Sprintf("version %d", e.Write)
	}
	return fmt.Sprintf("version %d or %d", e.Write, e.Second)
}

// named reports whether a name or alias is the attribute's; an attribute that a version does not have has no name.
func (a *attribute) named(name string) bool {
	return a != nil && (a.Name == name || slices.Contains(a.Aliases, name))
}

// recode brings the value of a delta into the version that decides, and into the one that it is also stored in. A value
// that the deciding version cannot hold is refused; one that only the other cannot hold waits in quarantine.
func (p *submission) recode(d *prepared) (*rejection, error) {
	d.decides, d.decidesIn = d.value, d.form.version
	if d.value == nil {
		return nil, nil
	}
	c := p.choices[d.attr.typ]
	for _, version := range []int{c.epoch.Write, c.epoch.Second} {
		if version == 0 || c.line.form(version, d.attr.id) == nil || c.line.same(d.attr.id, version, d.form.version) {
			continue
		}
		made, err := c.line.convert(d.attr.id, d.form.version, version, Converted{Value: d.value})
		fe, unfit := errors.AsType[*FieldError](err)
		switch {
		case err != nil && !unfit:
			return nil, err
		case unfit && version == c.epoch.Write:
			return reject(codeVersion, *fe.At("value")), nil
		case unfit:
			d.unfit = append(d.unfit, Quarantined{Version: version, Rule: fe.Rule, Pointer: "/" + strings.TrimSuffix("value/"+fe.Field, "/")})
			continue
		}
		if version == c.epoch.Write && !made.Lossy {
			d.decides, d.decidesIn = made.Value, version
		}
		d.forms = append(d.forms, Encoding{
			Version: version, Value: made.Value, Lens: c.line.path(d.form.version, version), Lossy: made.Lossy, Defaulted: made.Defaulted,
		})
	}
	return nil, nil
}

// otherDigests are those of a delta's value in the forms that do not decide. They get the same value number, so that a
// value is known again whichever version says it.
func (l *Ledger) otherDigests(d *prepared) []string {
	if len(d.forms) == 0 {
		return nil
	}
	all := []string{l.valueDigest(d.attr.id, d.form.version, d.value)}
	for i := range d.forms {
		// On the way down a loss takes away what tells two values apart; on the way up they are the same from then on.
		if !d.forms[i].Lossy || d.forms[i].Version > d.form.version {
			all = append(all, l.valueDigest(d.attr.id, d.forms[i].Version, d.forms[i].Value))
		}
	}
	return slices.DeleteFunc(all, func(s string) bool { return s == d.digest })
}

// keepForms stores what a fact's value is in the other versions, and in which it is nothing.
func (d *decision) keepForms(p *prepared, fact int64) {
	for _, form := range p.forms {
		form.KnownFrom = d.change.Known
		d.change.Encodings = append(d.change.Encodings, NewEncoding{Fact: fact, Encoding: form})
	}
	for _, q := range p.unfit {
		q.Fact = fact
		d.change.Quarantined = append(d.change.Quarantined, q)
	}
}

// fresh reports whether the epochs under which the call was prepared are those of the snapshot.
func (p *submission) fresh(s *Snapshot) bool {
	for i, typ := range p.call.Types {
		c := p.choices[typ]
		have, want := c.line.resolved(s.Epochs[i], c.first), c.epoch
		if have.Read != want.Read || have.Write != want.Write || have.Second != want.Second {
			return false
		}
	}
	return true
}

// beginEpochs records what the versions of the call's facts make an epoch of: the first facts of a type, and those of a
// version that followed without a migration.
func (d *decision) beginEpochs() {
	for i, typ := range d.call.Types {
		have, want := d.snap.Epochs[i], d.choices[typ].epoch
		if have.Read == want.Read && have.Write == want.Write {
			continue
		}
		if slices.ContainsFunc(d.change.Facts, func(f NewFact) bool { return f.MemoryType == typ }) {
			d.change.Epochs = append(d.change.Epochs, Epoch{Type: typ, KnownFrom: d.change.Known, Read: want.Read, Write: want.Write, Second: want.Second})
		}
	}
}

// valueDigest is the keyed digest of a value in a version. Equal bytes mean the same in versions of one shape, and need not
// in others: 100 is another amount in cents.
func (l *Ledger) valueDigest(id AttributeID, version int, value []byte) string {
	return l.digest(append([]string{"value", string(value)}, l.shapeOf(id, version)...)...)
}

// shapeOf names the shape that an attribute has in a version, for digests; the first shape needs no name.
func (l *Ledger) shapeOf(id AttributeID, version int) []string {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if a := l.catalog.byID[id]; a != nil {
		if shape := l.catalog.types[a.typ].shape(id, version); shape > 1 {
			return []string{strconv.Itoa(shape)}
		}
	}
	return nil
}
