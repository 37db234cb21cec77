package sgam

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"time"
)

// Stretch is one interval of a slot's timeline: the fact that holds, or the reason why none does.
type Stretch struct {
	// Valid is the valid-time interval; neighbours of equal value are joined into one stretch, whose Fact is the first.
	Valid Interval
	// Fact holds on the stretch; for an absence it is the fact that says so, nil when nothing is known.
	Fact *Fact
	// Reason is nil when Fact holds, otherwise ErrUnknown, ErrAbsent, ErrExpired or ErrErased, or an [*UnmigratedError]: then
	// Fact holds, and has no value in the version that the view shows.
	Reason error

	number int64 // of the fact's value in its slot
}

// Timeline lists one slot's valid time at the view's known time, in order, without gaps: equal neighbours are joined,
// and absences and what is unknown between two facts are stretches of their own. A slot of which nothing is known has
// none. The view's valid time plays no part.
func (v View) Timeline(ctx context.Context, slot Slot) iter.Seq2[Stretch, error] {
	return func(yield func(Stretch, error) bool) {
		key, a, err := v.single(ctx, slot)
		if err == nil && a.Many && key.Member == "" {
			err = ErrManyValued
		}
		if err != nil {
			yield(Stretch{}, err)
			return
		}
		var last *Stretch
		q := &Query{Kind: QueryTimeline, Slots: []SlotKey{key}}
		for row, err := range v.rows(ctx, q) {
			if err != nil {
				yield(Stretch{}, err)
				return
			}
			next := v.t.stretch(row)
			if last == nil {
				last = &next
				continue
			}
			if last.Valid.To != nil && last.Valid.To.Equal(next.Valid.From) && last.equal(&next) {
				last.Valid.To = next.Valid.To
				continue
			}
			if !yield(*last, nil) {
				return
			}
			if last.Valid.To != nil && last.Valid.To.Before(next.Valid.From) {
				from := next.Valid.From
				if !yield(Stretch{Valid: Interval{*last.Valid.To, &from}, Reason: ErrUnknown}, nil) {
					return
				}
			}
			last = &next
		}
		if last != nil {
			yield(*last, nil)
		}
	}
}

func (t *Tenant) stretch(r *Row) Stretch {
	f, err := t.answer(r)
	if none, ok := errors.AsType[*NoValueError](err); ok {
		return Stretch{Valid: none.By.Valid, Fact: none.By, Reason: none.Reason}
	}
	if err != nil {
		return Stretch{Valid: f.Valid, Fact: &f, Reason: err, number: r.Value}
	}
	return Stretch{Valid: f.Valid, Fact: &f, number: r.Value}
}

func (s *Stretch) equal(o *Stretch) bool {
	switch {
	case s.Reason == nil:
		// Equal values have equal numbers, whatever version they are shown in. In one version equal bytes say it too: a value
		// that lost something on its way may be shown as another one is.
		return o.Reason == nil && (s.number == o.number && s.number != 0 ||
			s.Fact.SchemaVersion == o.Fact.SchemaVersion && bytes.Equal(s.Fact.Value, o.Fact.Value))
	case !errors.Is(o.Reason, s.Reason):
		return false
	case errors.Is(s.Reason, ErrExpired), errors.Is(s.Reason, ErrErased), errors.Is(s.Reason, ErrUnmigrated):
		return s.Fact.ID == o.Fact.ID // whether two values that are gone were equal, nobody can say
	}
	return true
}

// Belief is what was believed about one valid instant during an interval of known time.
type Belief struct {
	// Known is when it was believed. An open end is "still".
	Known Interval
	// Fact is what was believed, or the fact that stated the absence.
	Fact Fact
	// Reason is nil for a value, otherwise ErrAbsent, ErrExpired or ErrErased.
	Reason error
	// ClosedBy is the fact that ended the belief, zero while it stands.
	ClosedBy MemoryID
}

// Believed lists what was believed about one valid instant of a slot, in order of known time: when did we learn it.
// Known times at which nothing was known about the instant are gaps.
func (t *Tenant) Believed(ctx context.Context, slot Slot, valid time.Time) iter.Seq2[Belief, error] {
	return func(yield func(Belief, error) bool) {
		key, _, err := t.key(ctx, slot)
		if err != nil {
			yield(Belief{}, err)
			return
		}
		at, err := InstantOf(valid)
		if err != nil {
			yield(Belief{}, err)
			return
		}
		for row, err := range t.rows(ctx, &Query{Kind: QueryBelieved, Slots: []SlotKey{key}, Valid: at, Known: Forever}) {
			if err != nil {
				yield(Belief{}, err)
				return
			}
			s := t.stretch(row)
			if !yield(Belief{Known: s.Fact.Known, Fact: *s.Fact, Reason: s.Reason, ClosedBy: row.ClosedBy}, nil) {
				return
			}
		}
	}
}

// Entry is one fact of a slot's history.
type Entry struct {
	Fact Fact
	// Displaced are the regions that other facts lost to it, Confirms the facts that already said the same.
	Displaced []Displacement
	Confirms  []MemoryID
	// Withdraws is the fact that it took back, for an entry of operation Withdraw.
	Withdraws MemoryID
}

// History lists every fact of a slot in the order in which they were recorded, those of one call too. Here Fact.Valid
// is the interval that the statement reached when it was recorded.
func (t *Tenant) History(ctx context.Context, slot Slot) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		key, _, err := t.key(ctx, slot)
		if err != nil {
			yield(Entry{}, err)
			return
		}
		for row, err := range t.rows(ctx, &Query{Kind: QueryHistory, Slots: []SlotKey{key}, Known: Forever}) {
			if err != nil {
				yield(Entry{}, err)
				return
			}
			if !yield(t.entry(row), nil) {
				return
			}
		}
	}
}

func (t *Tenant) entry(r *Row) Entry {
	return Entry{Fact: t.fact(r), Displaced: r.Displaced, Confirms: r.Confirmed, Withdraws: r.Target}
}

// Memory reads one fact by its id, as History shows it. An id of another tenant is ErrNotFound.
func (t *Tenant) Memory(ctx context.Context, id MemoryID) (Entry, error) {
	page, err := t.read(ctx, &Query{Kind: QueryMemory, Memory: id, Known: Forever, Limit: 1})
	if err != nil {
		return Entry{}, err
	}
	if len(page.Rows) == 0 {
		return Entry{}, ErrNotFound
	}
	return t.entry(&page.Rows[0]), nil
}

// Episode reads one episode by its id.
func (t *Tenant) Episode(ctx context.Context, id string) (Episode, error) {
	page, err := t.read(ctx, &Query{Kind: QueryEpisode, Episode: id, Known: Forever, Limit: 1})
	if err != nil {
		return Episode{}, err
	}
	if len(page.Episodes) == 0 {
		return Episode{}, ErrNotFound
	}
	return page.Episodes[0], nil
}

// Outcomes lists the durable outcomes of the tenant in the order in which they were decided. Without statuses it lists
// all of them.
func (t *Tenant) Outcomes(ctx context.Context, statuses ...Outcome) iter.Seq2[OutcomeRecord, error] {
	return func(yield func(OutcomeRecord, error) bool) {
		q := &Query{Kind: QueryOutcomes, Statuses: statuses, Known: Forever}
		for o, err := range walkTenant(ctx, t, q, func(p *Page) []OutcomeRecord { return p.Outcomes }) {
			if err != nil {
				yield(OutcomeRecord{}, err)
				return
			}
			if !yield(*o, nil) {
				return
			}
		}
	}
}

// Explanation answers the six questions about one slot at once.
type Explanation struct {
	// Now is what is true at the view's times, or the reason why nothing is.
	Now Stretch
	// Was is the whole timeline at the view's known time.
	Was []Stretch
	// Source is the episode behind Now: who said it.
	Source *Episode
	// Principal wrote it: whose it is.
	Principal string
	// Replaced are the regions that the fact behind Now displaced when it was recorded.
	Replaced []Displacement
	// RetentionPolicy is the class that decides when it expires and whether it may be deleted.
	RetentionPolicy string
}

// Explain answers at once what is true, what was true, who said it, whose it is, what it replaced, and which retention
// class it is under.
func (v View) Explain(ctx context.Context, slot Slot) (Explanation, error) {
	key, a, err := v.single(ctx, slot)
	if err != nil {
		return Explanation{}, err
	}
	if a.Many && key.Member == "" {
		return Explanation{}, ErrManyValued
	}
	slot.Scope = key.Scope
	var e Explanation
	f, err := v.In(key.Scope).Member(ctx, slot)
	switch none, ok := errors.AsType[*NoValueError](err); {
	case ok:
		e.Now = Stretch{Fact: none.By, Reason: none.Reason}
		if none.By != nil {
			e.Now.Valid = none.By.Valid
		}
	case errors.Is(err, ErrUnmigrated):
		e.Now = Stretch{Valid: f.Valid, Fact: &f, Reason: err}
	case err != nil:
		return Explanation{}, err
	default:
		e.Now = Stretch{Valid: f.Valid, Fact: &f}
	}
	for s, err := range v.Timeline(ctx, slot) {
		if err != nil {
			return Explanation{}, err
		}
		e.Was = append(e.Was, s)
	}
	if e.Now.Fact == nil {
		return e, nil
	}
	e.Principal, e.RetentionPolicy = e.Now.Fact.Principal, e.Now.Fact.RetentionPolicy
	entry, err := v.t.Memory(ctx, e.Now.Fact.ID)
	if err != nil {
		return Explanation{}, err
	}
	e.Replaced = entry.Displaced
	if e.Now.Fact.Episode == "" {
		return e, nil
	}
	source, err := v.t.Episode(ctx, e.Now.Fact.Episode)
	if err != nil {
		return Explanation{}, err
	}
	e.Source = &source
	return e, nil
}

// key resolves a slot's names and its member.
func (t *Tenant) key(ctx context.Context, s Slot) (SlotKey, *attribute, error) {
	a, err := t.resolve(ctx, s.Attribute)
	if err != nil {
		return SlotKey{}, nil, err
	}
	if fe := checkName("subject", s.Subject, false); fe != nil {
		return SlotKey{}, nil, fe
	}
	if fe := checkName("scope", string(s.Scope), true); fe != nil {
		return SlotKey{}, nil, fe
	}
	key := SlotKey{Scope: s.Scope, Subject: s.Subject, Attribute: a.id}
	if len(s.Member) == 0 {
		return key, a, nil
	}
	if !a.Many {
		return SlotKey{}, nil, fault("member", "forbidden", "no member: the attribute has one value")
	}
	member, err := canonicalMember(s.Member)
	if err != nil {
		return SlotKey{}, nil, err
	}
	key.Member, err = t.l.member(a, member)
	return key, a, err
}

// single resolves a slot for a read that needs exactly one scope.
func (v View) single(ctx context.Context, s Slot) (SlotKey, *attribute, error) {
	if s.Scope == "" {
		if len(v.scopes) != 1 {
			return SlotKey{}, nil, fmt.Errorf("%w: the view has %d", ErrOneScope, len(v.scopes))
		}
		s.Scope = v.scopes[0]
	}
	return v.t.key(ctx, s)
}

// member is the keyed digest of a value's identity.
func (l *Ledger) member(a *attribute, value []byte) (string, error) {
	if a.Identity != nil {
		part, err := a.Identity(value)
		if err != nil {
			return "", &FieldError{Field: "value", Rule: "identity", Want: "a value with the part that names the member", err: err}
		}
		value = part
	}
	return l.digest("member", a.identity(), string(value)), nil
}
