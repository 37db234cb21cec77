package sgam

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync"
	"time"
)

// View is a place to read from: one valid time, one known time, one list of scopes. It pins both times with its first
// read, so that everything it answers belongs together: known time is the tenant's last commit or the one that was
// asked for, and "now" is the later of the clock and that commit. A write acknowledged before the view was made is
// visible in it. Views are safe for concurrent use.
type View struct {
	t      *Tenant
	scopes []Scope
	pin    *pin
	shapes map[string]int // asked versions, by memory type
}

// pin is shared by the copies of one view.
type pin struct {
	mu           sync.Mutex
	valid, known Instant
	now          bool // valid is the later of the clock and the last commit
	done         bool
	err          error // of a time out of range
}

// Current reads what is true now, as known now.
func (t *Tenant) Current() View { return t.view(&pin{known: Forever, now: true}) }

// ValidAt reads what was, is or will be true at v, as known now.
func (t *Tenant) ValidAt(v time.Time) View {
	p := &pin{known: Forever}
	p.valid, p.err = InstantOf(v)
	return t.view(p)
}

// KnownAt reads what is true now, as it was known at k.
func (t *Tenant) KnownAt(k time.Time) View {
	return t.Current().KnownAt(k)
}

func (t *Tenant) view(p *pin) View { return View{t: t, scopes: everyone, pin: p} }

var everyone = []Scope{""}

// KnownAt is the same view with another known time. A known time beyond the last commit is answered at the last
// commit; [View.Pinned] says so.
func (v View) KnownAt(k time.Time) View {
	p := &pin{valid: v.pin.valid, now: v.pin.now, err: v.pin.err}
	known, err := InstantOf(k)
	if err != nil && p.err == nil {
		p.err = err
	}
	p.known = known
	return View{t: v.t, scopes: v.scopes, pin: p, shapes: v.shapes}
}

// In is the same view of other scopes, in order: a point read answers from the first scope that has an answer, lists
// return all of them, and timelines need exactly one. Without scopes it is everyone in the tenant.
func (v View) In(scopes ...Scope) View {
	if len(scopes) == 0 {
		scopes = everyone
	}
	return View{t: v.t, scopes: slices.Clone(scopes), pin: v.pin, shapes: v.shapes}
}

// Pinned returns the two times that the view answers at. Both are zero before the first read.
func (v View) Pinned() (valid, known time.Time) {
	v.pin.mu.Lock()
	defer v.pin.mu.Unlock()
	if !v.pin.done {
		return time.Time{}, time.Time{}
	}
	return v.pin.valid.Time(), v.pin.known.Time()
}

// ask reads one page at the view's times, with its values in the versions that the view shows.
func (v View) ask(ctx context.Context, q *Query) (*Page, error) {
	if fe := v.checkShapes(); fe != nil {
		return nil, fe
	}
	q.shaped = true
	page, err := v.askAsStored(ctx, q)
	if err != nil || !q.Encodings {
		return page, err
	}
	for i := range page.Rows {
		r := &page.Rows[i]
		if r.unread, err = v.shape(r, page.Epochs); err != nil {
			return nil, err
		}
	}
	return page, nil
}

// askAsStored reads one page at the view's times, and pins them when this is the first.
func (v View) askAsStored(ctx context.Context, q *Query) (*Page, error) {
	p := v.pin
	p.mu.Lock()
	if p.err != nil {
		p.mu.Unlock()
		return nil, p.err
	}
	for _, s := range v.scopes {
		if fe := checkName("scope", string(s), true); fe != nil {
			p.mu.Unlock()
			return nil, fe
		}
	}
	if p.done {
		q.Valid, q.Known = p.valid, p.known
		p.mu.Unlock()
		return v.t.read(ctx, q)
	}
	// The first read decides the times, so others wait for it.
	defer p.mu.Unlock()
	q.Valid, q.Known, q.Now = p.valid, p.known, p.now
	if p.now {
		q.Valid = v.t.l.now()
	}
	page, err := v.t.read(ctx, q)
	if err != nil {
		return nil, err
	}
	p.known = min(p.known, page.LastKnown)
	p.valid = q.Valid
	if p.now {
		p.valid = max(q.Valid, page.LastKnown)
	}
	p.done, q.Valid, q.Known, q.Now = true, p.valid, p.known, false
	return page, nil
}

// resolve finds the attribute of a read, which must be registered.
func (t *Tenant) resolve(ctx context.Context, name string) (*attribute, error) {
	if t.l.closed.Load() {
		return nil, ErrClosed
	}
	a, err := t.l.attribute(ctx, name)
	if err == nil && a == nil {
		return nil, fault("attribute", "unknown", "an attribute of a registered memory type")
	}
	return a, err
}

// Get answers one question about one subject: the fact that holds. When none does, the error is a [*NoValueError] that
// says why. A many-valued attribute is [ErrManyValued]: see [View.Members].
func (v View) Get(ctx context.Context, subject, attribute string) (Fact, error) {
	a, err := v.t.resolve(ctx, attribute)
	if err != nil {
		return Fact{}, err
	}
	if a.Many {
		return Fact{}, ErrManyValued
	}
	if fe := checkName("subject", subject, false); fe != nil {
		return Fact{}, fe
	}
	return v.point(ctx, SlotKey{Subject: subject, Attribute: a.id})
}

// point answers from the first scope that has an answer (rule R15).
func (v View) point(ctx context.Context, key SlotKey) (Fact, error) {
	q := &Query{Kind: QueryPoint, Slots: make([]SlotKey, len(v.scopes)), Limit: len(v.scopes)}
	for i, s := range v.scopes {
		q.Slots[i] = key
		q.Slots[i].Scope = s
	}
	page, err := v.ask(ctx, q)
	if err != nil {
		return Fact{}, err
	}
	if len(page.Rows) == 0 {
		return Fact{}, &NoValueError{Reason: ErrUnknown}
	}
	return v.t.answer(&page.Rows[0])
}

// answer turns a row into a fact or into the reason why there is no value.
func (t *Tenant) answer(r *Row) (Fact, error) {
	f := t.fact(r)
	switch {
	case r.Erased:
		return Fact{}, noValue(ErrErased, f)
	case f.Op == Expire:
		return Fact{}, noValue(ErrExpired, f)
	case f.Absent():
		return Fact{}, noValue(ErrAbsent, f)
	case r.unread != nil:
		return f, r.unread
	}
	return f, nil
}

// noValue takes the fact by value, so that only an answer without a value pays for a copy on the heap.
func noValue(reason error, by Fact) error { return &NoValueError{Reason: reason, By: &by} }

// fact fills in the names that the engine leaves to the ledger.
func (t *Tenant) fact(r *Row) Fact {
	f := r.Fact
	f.Tenant, f.Scope, f.Subject = t.id.name, r.Slot.Scope, r.Slot.Subject
	if f.Absent() {
		f.Value = nil // what is kept with an absence names the member that it is about
	}
	t.l.mu.RLock()
	a := t.l.catalog.byID[r.Slot.Attribute]
	t.l.mu.RUnlock()
	if a != nil {
		f.Attribute, f.MemoryType = a.Name, a.typ
	}
	if f.StoredVersion == 0 {
		f.StoredVersion = f.SchemaVersion
	}
	if r.shown != 0 {
		f.Attribute = t.l.form(r.Slot.Attribute, r.shown).Name
	}
	return f
}

// Members lists the values of a many-valued attribute, scope by scope in the view's order. When no scope has one, the
// list ends in the [*NoValueError] of the first scope in which somebody said that there are none; when nothing was said
// it is empty.
func (v View) Members(ctx context.Context, subject, attribute string) iter.Seq2[Fact, error] {
	return func(yield func(Fact, error) bool) {
		a, err := v.t.resolve(ctx, attribute)
		if err == nil {
			if fe := checkName("subject", subject, false); fe != nil {
				err = fe
			}
		}
		if err != nil {
			yield(Fact{}, err)
			return
		}
		var none error
		found := false
		for _, scope := range v.scopes {
			q := &Query{Kind: QueryMembers, Slots: []SlotKey{{Scope: scope, Subject: subject, Attribute: a.id}}}
			for row, err := range v.rows(ctx, q) {
				if err != nil {
					yield(Fact{}, err)
					return
				}
				f, err := v.t.answer(row)
				if errors.Is(err, ErrUnmigrated) {
					found = true
					if !yield(f, err) {
						return
					}
					continue
				}
				if err != nil {
					if row.Slot.Member == "" && none == nil {
						none = err
					}
					continue
				}
				found = true
				if !yield(f, nil) {
					return
				}
			}
		}
		if none != nil && !found {
			yield(Fact{}, none)
		}
	}
}

// Member reads one member of a many-valued attribute: the fact by which the value holds. When the attribute's set slot
// says that there are none, the answer is ErrAbsent by that statement.
func (v View) Member(ctx context.Context, slot Slot) (Fact, error) {
	key, _, err := v.t.key(ctx, slot)
	if err != nil {
		return Fact{}, err
	}
	for _, scope := range v.scopes {
		one := v.In(scope)
		f, err := one.point(ctx, key)
		if errors.Is(err, ErrUnknown) && key.Member != "" {
			set := key
			set.Member = ""
			f, err = one.point(ctx, set)
		}
		if !errors.Is(err, ErrUnknown) {
			return f, err
		}
	}
	return Fact{}, &NoValueError{Reason: ErrUnknown}
}
