package sgam

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/sgam-ledger/sgam/internal/canon"
)

// prepared is one delta after everything that can be judged without the store.
type prepared struct {
	MemoryDelta
	attr      *attribute // in the version that decides
	form      *attribute // in the version that the delta is in
	refused   *rejection
	span      Span
	assumed   bool
	value     []byte // canonical, as submitted
	decides   []byte // the same in the version that decides
	forms     []Encoding
	decidesIn int
	unfit     []Quarantined // versions in which it has no form
	digest    string        // of what decides, for its number
	others    []string      // digests of the other forms
	member    string        // of the value's identity
	target    int
	set       int // the set slot's target, -1 when there is none
	key       string
	keyAt     int // in call.Keys
	payload   string

	principal string   // who stated it
	memory    MemoryID // of an accepted candidate
}

// submission is one call on its way to the store.
type submission struct {
	t        *Tenant
	registry int64 // the revision under which the deltas were judged
	batch    Batch
	known    Instant // given, Beginning when not
	deltas   []prepared
	call     *Call
	slots    map[SlotKey]int
	episodes map[string]*Episode // brought along, checked
	digests  map[string]string   // of their content
	explicit map[string]bool     // stored whatever becomes of the deltas
	order    []string            // of episodes brought along
	epIndex  map[string]int      // in call.Episodes
	choices  map[string]*choice  // by memory type
	accepted bool                // an accepted candidate: policies have been passed
}

// prepare judges the envelopes and values, and gathers what the engine must look up.
func (t *Tenant) prepare(ctx context.Context, b Batch, accepted bool) (*submission, error) {
	p := &submission{
		t: t, batch: b, known: Beginning, call: &Call{Principal: t.principal}, accepted: accepted, choices: map[string]*choice{},
		slots: map[SlotKey]int{}, episodes: map[string]*Episode{}, digests: map[string]string{},
		explicit: map[string]bool{}, epIndex: map[string]int{},
	}
	p.registry = t.l.revision()
	if b.KnownAt != nil {
		var fe *FieldError
		if p.known, fe = instantField("known_at", *b.KnownAt); fe == nil && b.KnownAt.IsZero() {
			fe = fault("known_at", "range", "a known time; nil takes it from the clock")
		}
		if fe != nil {
			return nil, fe
		}
	}
	for i := range b.Episodes {
		if fe := p.bring(&b.Episodes[i]); fe != nil {
			return nil, &ValidationError{Code: codeEpisode, Faults: prefixed(fe, "episodes/"+strconv.Itoa(i))}
		}
		p.explicit[b.Episodes[i].ID] = true
	}
	p.deltas = make([]prepared, len(b.Deltas))
	repeats := map[string]int{}
	for i := range b.Deltas {
		d := &p.deltas[i]
		d.MemoryDelta, d.set, d.principal = b.Deltas[i], -1, t.principal
		if d.TenantID != "" && d.TenantID != t.id.name {
			return nil, &FieldError{Field: fieldOf(i, len(b.Deltas), "tenant_id"), Rule: "tenant", Want: "the tenant of this handle", err: ErrForeignTenant}
		}
		if d.Episode != nil && d.EpisodeID == "" {
			d.EpisodeID = d.Episode.ID
		}
		if d.EpisodeID == "" {
			return nil, fault(fieldOf(i, len(b.Deltas), "source_episode_id"), "required", "the episode that the delta comes from")
		}
		refused, err := p.judge(ctx, d)
		if err != nil {
			return nil, err
		}
		if d.refused = refused; refused != nil {
			if err := p.recognise(ctx, d, repeats); err != nil {
				return nil, err
			}
			continue
		}
		if err := p.derive(d, repeats); err != nil {
			return nil, err
		}
		p.aim(d)
	}
	p.widen()
	return p, nil
}

// widen loads all of a member slot when the same call also speaks about all members of its attribute.
func (p *submission) widen() {
	for i := range p.call.Targets {
		set := &p.call.Targets[i]
		if !set.Members {
			continue
		}
		for j := range p.call.Targets {
			m := &p.call.Targets[j]
			if key := m.Slot; i != j && key.Scope == set.Slot.Scope && key.Subject == set.Slot.Subject && key.Attribute == set.Slot.Attribute {
				m.Window, m.Points = Span{Beginning, Forever}, AllPoints
				set.Window, set.Points = m.Window, AllPoints
			}
		}
	}
}

func fieldOf(i, n int, name string) string {
	if n == 1 {
		return name
	}
	return fmt.Sprintf("deltas/%d/%s", i, name)
}

func prefixed(faults []FieldError, prefix string) []FieldError {
	out := make([]FieldError, len(faults))
	for i := range faults {
		out[i] = *faults[i].At(prefix)
	}
	return out
}

// judge is everything about one delta that needs no store, but for the time of an episode that is already there.
func (p *submission) judge(ctx context.Context, d *prepared) (*rejection, error) {
	if d.Episode != nil {
		if d.Episode.ID != d.EpisodeID {
			return reject(codeEpisode, *fault("source_episode_id", "equal", "the id of the episode that is brought along")), nil
		}
		if faults := p.bring(d.Episode); faults != nil {
			return reject(codeEpisode, prefixed(faults, "episode")...), nil
		}
	} else {
		p.lookUp(d.EpisodeID)
	}
	if faults := d.envelope(); faults != nil {
		return reject(codeInvalid, faults...), nil
	}
	a, err := p.t.l.attribute(ctx, d.Attribute)
	switch {
	case err != nil:
		return nil, err
	case a == nil && p.t.l.isDraft(d.Attribute):
		return reject(codeVersion, *fault("attribute", "draft", "an attribute of a version that is no draft")), nil
	case a == nil:
		return reject(codeAttribute, *fault("attribute", "unknown", "an attribute of a registered memory type")), nil
	case d.MemoryType != "" && p.t.l.newest(d.MemoryType) == 0:
		return reject(codeType, *fault("memory_type", "unknown", "a registered memory type")), nil
	case d.MemoryType != "" && d.MemoryType != a.typ:
		return reject(codeVersion, *fault("memory_type", "equal", "the attribute's memory type")), nil
	}
	if refused, err := p.choose(ctx, d, a); refused != nil || err != nil {
		return refused, err
	}
	if d.attr.Policy == KeepHighestConfidence && d.Confidence == nil {
		return reject(codeConfidence, *fault("confidence", "required", "a confidence: the attribute keeps the highest")), nil
	}
	if refused := d.judgeValue(); refused != nil {
		return refused, nil
	}
	if refused, err := p.recode(d); refused != nil || err != nil {
		return refused, err
	}
	return p.judgeTimes(ctx, d)
}

// envelope judges names, operation and numbers.
func (d *prepared) envelope() []FieldError {
	var faults []FieldError
	if fe := checkAttribute(d.Attribute); fe != nil {
		faults = append(faults, *fe)
	}
	for _, f := range []struct {
		field, s string
		empty    bool
	}{
		{"subject", d.Subject, false}, {"scope", string(d.Scope), true},
		{"source_episode_id", d.EpisodeID, false}, {"idempotency_key", d.IdempotencyKey, true},
		{"retention_policy", d.RetentionPolicy, true}, {"memory_type", d.MemoryType, true},
	} {
		if fe := checkName(f.field, f.s, f.empty); fe != nil {
			faults = append(faults, *fe)
		}
	}
	if !d.Op.proposed() {
		faults = append(faults, *fault("op", "enum", "assert, correct, end or void"))
	}
	if c := d.Confidence; c != nil && !(*c >= 0 && *c <= 1) {
		faults = append(faults, *fault("confidence", "range", "a number between 0 and 1"))
	}
	if d.SchemaVersion < 0 {
		faults = append(faults, *fault("schema_version", "range", "a version from 1 on"))
	}
	for _, text := range []struct{ field, s string }{
		{"evidence", d.Provenance.Evidence}, {"intent", d.Provenance.Intent}, {"reasoning", d.Provenance.Reasoning},
		{"compared", d.Provenance.Compared}, {"contradicts", d.Provenance.Contradicts},
	} {
		if fe := checkText("provenance/"+text.field, text.s); fe != nil {
			faults = append(faults, *fe)
		}
	}
	return faults
}

// judgeValue brings the value into canonical form and holds it against the schema.
func (d *prepared) judgeValue() *rejection {
	states := d.Op == Assert || d.Op == Correct
	if !states && string(d.Value) == "null" {
		d.Value = nil // a model that must name every field says so
	}
	switch {
	case d.unwritable != nil:
		return reject(codeInvalid, FieldError{Field: "value", Rule: "type", Want: "a value that can be written as JSON", err: d.unwritable})
	case len(d.Value) == 0 && states:
		return reject(codeInvalid, *fault("value", "required", "a value; use end or void to say that there is none"))
	case len(d.Value) == 0:
		return nil
	case !states && !d.attr.Many:
		return reject(codeInvalid, *fault("value", "forbidden", "no value: the operation states an absence"))
	case len(d.Value) > maxContent:
		return reject(codeInvalid, *fault("value", "length", "at most 64 MiB"))
	}
	value, err := canon.Canonical(d.Value)
	if err != nil {
		fe := jsonFault(err)
		return reject(codeInvalid, *fault("value", fe.Rule, fe.Want)) // where in it, its own keys would tell
	}
	if string(value) == "null" {
		return reject(codeInvalid, *fault("value", "null", "a value; use end or void to say that there is none"))
	}
	if faults := d.form.Check(value); faults != nil {
		return reject(codeSchema, prefixed(faults, "value")...)
	}
	d.value = value
	return nil
}

// judgeTimes turns the delta's times into a span (rule R2).
func (p *submission) judgeTimes(ctx context.Context, d *prepared) (*rejection, error) {
	switch {
	case d.ValidFrom != nil:
		if refused := bound("valid_from", *d.ValidFrom, &d.span.From); refused != nil {
			return refused, nil
		}
	case p.episodes[d.EpisodeID] != nil:
		d.span.From, d.assumed = Instant(p.episodes[d.EpisodeID].OccurredAt.UnixMicro()), true
	default:
		// Episodes are immutable, so the time may be read before the lock is taken.
		e, err := p.t.Episode(ctx, d.EpisodeID)
		if errors.Is(err, ErrNotFound) {
			return reject(codeEpisode, *fault("source_episode_id", "unknown", "an episode of this tenant")), nil
		}
		if err != nil {
			return nil, err
		}
		d.span.From, d.assumed = Instant(e.OccurredAt.UnixMicro()), true
	}
	d.span.To = Forever
	if d.ValidTo != nil {
		if refused := bound("valid_to", *d.ValidTo, &d.span.To); refused != nil {
			return refused, nil
		}
	}
	if d.span.empty() {
		return reject(codeInvalid, FieldError{Field: "valid_to", Rule: "interval", Want: "a time later than valid_from", err: ErrEmptyInterval}), nil
	}
	return nil, nil
}

func bound(field string, t time.Time, into *Instant) *rejection {
	i, fe := instantField(field, t)
	if fe != nil {
		return reject(codeInvalid, *fe)
	}
	*into = i
	return nil
}

// derive computes the digests of one delta: of its value, of its idempotency key and of its payload (rule R10).
func (p *submission) derive(d *prepared, repeats map[string]int) (err error) {
	l := p.t.l
	if d.value != nil {
		d.digest = l.valueDigest(d.attr.id, d.decidesIn, d.decides)
		d.others = l.otherDigests(d)
		if d.attr.Many {
			d.member, err = l.member(d.attr, d.decides)
		}
	}
	p.name(d, repeats)
	return err
}

// name derives the digests of a delta's idempotency key and payload.
func (p *submission) name(d *prepared, repeats map[string]int) {
	l := p.t.l
	content := append([]string{
		d.EpisodeID, string(d.Scope), d.Subject, d.attr.identity(), string(d.Op), string(d.value),
		strconv.FormatInt(int64(d.span.From), 10), strconv.FormatInt(int64(d.span.To), 10),
	}, l.shapeOf(d.attr.id, d.form.version)...)
	if d.IdempotencyKey != "" {
		d.key = l.digest("given", d.IdempotencyKey)
		d.payload = l.digest(append([]string{"payload"}, content...)...)
	} else {
		// The position in the call tells equal deltas of one call apart, and is the same in every redelivery.
		base := l.digest(append([]string{"derived"}, content...)...)
		d.key = l.digest("position", base, strconv.Itoa(repeats[base]))
		repeats[base]++
	}
	d.keyAt = len(p.call.Keys)
	p.call.Keys = append(p.call.Keys, d.key)
}

// aim registers the slots that the delta touches with the call.
func (p *submission) aim(d *prepared) {
	key := SlotKey{Scope: d.Scope, Subject: d.Subject, Attribute: d.attr.id}
	window, points := d.span, NoPoints
	switch {
	case d.attr.Policy == Immutable:
		window, points = Span{Beginning, Forever}, AllPoints // a different value anywhere in the slot counts
	case d.Op == Assert, d.Op == End:
		points = NextPoint
	}
	if !d.attr.Many {
		d.target = p.want(key, window, points, d)
		return
	}
	d.set = p.want(key, window, points, nil)
	if d.value == nil {
		d.target = d.set
		p.call.Targets[d.set].Members = true
		p.call.Targets[d.set].Strength = d.attr.weighs()
		return
	}
	key.Member = d.member
	d.target = p.want(key, window, points, d)
}

// want adds a target, or widens the one that the slot already has: several statements of one call about one slot are
// folded in memory, and a later one may reach further once an earlier one has taken a change-point away.
func (p *submission) want(key SlotKey, window Span, points PointNeed, d *prepared) int {
	i, ok := p.slots[key]
	if !ok {
		i = len(p.call.Targets)
		p.slots[key] = i
		p.call.Targets = append(p.call.Targets, Target{Slot: key, Window: window, Points: points})
	} else {
		w := &p.call.Targets[i]
		w.Window = Span{min(w.Window.From, window.From), max(w.Window.To, window.To)}
		if w.Points != NoPoints || points != NoPoints {
			w.Window.To, w.Points = Forever, AllPoints
		}
	}
	if d != nil {
		w := &p.call.Targets[i]
		w.Strength = w.Strength || d.attr.weighs()
		if d.digest != "" {
			w.Digests = append(append(w.Digests, d.digest), d.others...)
		}
	}
	return i
}
