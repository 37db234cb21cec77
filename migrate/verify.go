package migrate

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/sgam-ledger/sgam"
)

// Verification compares both sides of one tenant's migration.
type Verification struct {
	Tenant string `json:"tenant"`
	// Known is the known time at which it was taken; facts up to number Last were looked at.
	Known      time.Time    `json:"known_at"`
	Last       int64        `json:"last_fact"`
	Attributes []Comparison `json:"attributes"`
	// Expected is a digest of what the lenses make of every recorded value, Stored one of what is stored. Neither depends on
	// the order of the facts.
	Expected string `json:"expected"`
	Stored   string `json:"stored"`
	// Found counts the findings; Findings are the first of them.
	Found    int64     `json:"found"`
	Findings []Finding `json:"findings,omitempty"`
}

// Comparison counts the facts of one attribute on both sides.
type Comparison struct {
	Attribute string `json:"attribute"`
	// Facts are those that the new version is to show, Forms those that it can show, Quarantined those in quarantine.
	Facts       int64 `json:"facts"`
	Forms       int64 `json:"forms"`
	Quarantined int64 `json:"quarantined,omitempty"`
	// RoundTrips are forms that lost nothing and were filled with nothing, and gave the recorded value back.
	RoundTrips int64 `json:"round_trips"`
}

// Finding is one thing that verification found wrong. It names no value.
type Finding struct {
	// Kind is "missing" (no form and not in quarantine), "quarantine" (in quarantine, which the plan refuses), "form" (not
	// what the lenses make of the recorded value), "round_trip" (the way back gives another value) or "layers" (what the
	// ledger derives of its facts does not hold, see [sgam.Tenant.Verify]).
	Kind      string `json:"kind"`
	Fact      int64  `json:"fact,omitempty"`
	Attribute string `json:"attribute,omitempty"`
	Detail    string `json:"detail,omitempty"`
}

func (f Finding) String() string {
	text := f.Kind
	if f.Fact != 0 {
		text += fmt.Sprintf(", fact %d of %s", f.Fact, f.Attribute)
	}
	if f.Detail != "" {
		text += ": " + f.Detail
	}
	return text
}

const maxFindings = 20

// Verify compares what is stored with what the lenses make of every recorded value, in both directions, lets the ledger
// prove its layers, and looks at the quarantine. Writers may go on: facts that come meanwhile are not looked at, since
// they are stored in both versions by themselves. It needs a migration that is dual or verified.
//
// With any finding the error is a [*FindingsError], and the migration is dual; without one it is verified.
func Verify(ctx context.Context, l *sgam.Ledger, g Target) ([]Verification, error) {
	all := []Verification{}
	err := g.each(ctx, l, func(t *sgam.Tenant) error {
		v, err := g.verify(ctx, l, t)
		if v != nil {
			all = append(all, *v)
		}
		return err
	})
	return all, err
}

func (g Target) verify(ctx context.Context, l *sgam.Ledger, t *sgam.Tenant) (*Verification, error) {
	m, err := g.look(ctx, t, actVerify)
	if err != nil {
		return nil, err
	}
	r, err := m.rec.route(ctx, l, g.Type)
	if err != nil {
		return nil, err
	}
	v := verifier{
		Verification: &Verification{Tenant: t.Name(), Known: m.Known.Time(), Last: m.LastFact}, tenant: t, route: r, rec: m.rec,
		conv: newConversions(l), by: map[sgam.AttributeID]*Comparison{},
	}
	if err := v.all(ctx); err != nil {
		return nil, err
	}
	err = step(ctx, t, g.Type, g.Principal, func(m *moment) error {
		if err := m.may(actVerify); err != nil {
			return err
		}
		if m.rec.serial != v.rec.serial {
			return ErrFenced
		}
		m.rec.Digest = v.Stored
		if v.Found > 0 {
			m.enter(Dual, fmt.Sprintf("verification found %d", v.Found))
		} else {
			m.enter(Verified, "")
		}
		return m.keep(sgam.MigrationWrite{})
	})
	if err == nil && v.Found > 0 {
		err = &FindingsError{Verification: v.Verification}
	}
	return v.Verification, err
}

// verifier takes one verification.
type verifier struct {
	*Verification
	tenant           *sgam.Tenant
	route            *route
	rec              *record
	conv             *conversions
	by               map[sgam.AttributeID]*Comparison
	expected, stored sum
}

func (v *verifier) find(f Finding) {
	if v.Found++; len(v.Findings) < maxFindings {
		v.Findings = append(v.Findings, f)
	}
}

func (v *verifier) all(ctx context.Context) error {
	next, stop := iter.Pull2(v.tenant.Quarantine(ctx, v.route.typ, v.route.to))
	defer stop()
	waiting, err, more := next()
	for f, ferr := range v.tenant.Values(ctx, v.route.typ, v.Last+1) {
		if ferr != nil {
			return ferr
		}
		// Both lists go from the newest fact to the oldest.
		for err == nil && more && waiting.Fact > f.Number {
			waiting, err, more = next()
		}
		if err != nil {
			return err
		}
		if err := v.fact(ctx, &f, place(more && waiting.Fact == f.Number, waiting.Believed)); err != nil {
			return err
		}
	}
	if err != nil {
		return err
	}
	for err := range v.tenant.Verify(ctx) {
		broken, ok := errors.AsType[*sgam.VerifyError](err)
		if !ok {
			return err
		}
		v.find(Finding{Kind: "layers", Attribute: broken.Attribute, Detail: broken.Layer + ": " + broken.Detail})
	}
	for _, c := range v.by {
		v.Attributes = append(v.Attributes, *c)
	}
	slices.SortFunc(v.Attributes, func(a, b Comparison) int { return strings.Compare(a.Attribute, b.Attribute) })
	v.Expected, v.Stored = v.expected.String(), v.stored.String()
	return nil
}

// quarantine says where a fact stands.
type quarantine int

const (
	outside   quarantine = iota
	forgotten            // in it, and nothing that is believed depends on it
	needed               // in it, and believed
)

func place(in, believed bool) quarantine {
	switch {
	case !in:
		return outside
	case believed:
		return needed
	}
	return forgotten
}

// fact compares one fact on both sides.
func (v *verifier) fact(ctx context.Context, f *sgam.StoredValue, waiting quarantine) error {
	a := v.route.attrs[f.Slot.Attribute]
	if f.Erased || a == nil {
		return nil
	}
	if a.inTo {
		c := v.by[f.Slot.Attribute]
		if c == nil {
			c = &Comparison{Attribute: f.Attribute}
			v.by[f.Slot.Attribute] = c
		}
		if err := v.side(ctx, f, v.route.to, waiting, c); err != nil {
			return err
		}
	}
	// What was recorded in the new version since the start has a form in the old one.
	since := f.Number > v.rec.Upper && f.Version > v.route.from
	if !a.inFrom || !since || v.rec.Decided && v.route.form(f, v.route.from) == nil {
		return nil
	}
	return v.side(ctx, f, v.route.from, outside, nil)
}

// side compares a fact's form in one version with what the lenses make of its recorded value.
func (v *verifier) side(ctx context.Context, f *sgam.StoredValue, version int, waiting quarantine, c *Comparison) error {
	finding := Finding{Fact: f.Number, Attribute: f.Attribute}
	want := conversion{Converted: sgam.Converted{Value: f.Value}}
	form := v.route.form(f, version)
	if !v.route.same(f.Slot.Attribute, f.Version, version) {
		var err error
		if want, err = v.conv.of(ctx, f.Slot.Attribute, f.Attribute, f.Version, version, f.Value); err != nil {
			return err
		}
	}
	v.expected.add(f.Number, version, want.unfit == nil, want.Converted)
	have := sgam.Converted{}
	if form != nil {
		have = sgam.Converted{Value: form.Value, Lossy: form.Lossy, Defaulted: form.Defaulted}
	}
	v.stored.add(f.Number, version, form != nil, have)
	if c != nil {
		c.Facts++
		if form != nil {
			c.Forms++
		}
		if waiting != outside {
			c.Quarantined++
		}
	}
	switch {
	case form == nil && waiting == outside:
		finding.Kind = "missing"
	case form == nil && want.unfit == nil:
		finding.Kind, finding.Detail = "form", "in quarantine, and has a form"
	case form == nil && waiting == needed && v.rec.Quarantine == RefuseQuarantine:
		finding.Kind, finding.Detail = "quarantine", want.unfit.Rule+" at "+pointer(want.unfit)
	case form == nil:
		return nil
	case want.unfit != nil || !bytes.Equal(want.Value, have.Value) || want.Lossy != have.Lossy || !slices.Equal(want.Defaulted, have.Defaulted):
		finding.Kind, finding.Detail = "form", "not what the lenses make of the recorded value"
	default:
		return v.back(ctx, f, form, finding, c)
	}
	v.find(finding)
	return nil
}

// back takes a form that lost nothing and was filled with nothing back to the recorded value.
func (v *verifier) back(ctx context.Context, f *sgam.StoredValue, form *sgam.Encoding, finding Finding, c *Comparison) error {
	if v.route.same(f.Slot.Attribute, f.Version, form.Version) || form.Lossy || len(form.Defaulted) > 0 {
		return nil
	}
	made, err := v.conv.of(ctx, f.Slot.Attribute, f.Attribute, form.Version, f.Version, form.Value)
	if err != nil {
		return err
	}
	switch same := made.unfit == nil && bytes.Equal(made.Value, f.Value); {
	case !same:
		finding.Kind, finding.Detail = "round_trip", "the way back gives another value"
		v.find(finding)
	case c != nil:
		c.RoundTrips++
	}
	return nil
}

// sum is a digest of a set: it does not depend on the order in which its members are added.
type sum [4]uint64

func (s *sum) add(fact int64, version int, there bool, c sgam.Converted) {
	text := fmt.Appendf(nil, "%d %d %t %t %q ", fact, version, there, c.Lossy, c.Defaulted)
	if there {
		text = append(text, c.Value...)
	}
	digest := sha256.Sum256(text)
	for i := range s {
		s[i] += binary.BigEndian.Uint64(digest[8*i:])
	}
}

func (s *sum) String() string {
	var raw [32]byte
	for i, lane := range s {
		binary.BigEndian.PutUint64(raw[8*i:], lane)
	}
	return hex.EncodeToString(raw[:])
}
