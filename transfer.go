package sgam

import (
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
)

// StoredCall is one call of a tenant as it was recorded: what a copy of the ledger is made of.
//
// An engine fills Change with what the call itself brought: Episodes and their digests, Facts, Outcomes, Candidates with
// the status that they were held with, Settled in order of the outcomes, Epochs, Encodings that were not recorded with a
// fact, what is in quarantine since then, the migration record that was last written then, and in Numbers the digests that
// were given their value number then, by facts or by encodings. Episodes come in the order in which they were brought,
// facts, outcomes and candidates in that of their numbers or ordinals. Everything else in Change follows from the facts and
// stays empty, as do NewFact.MemoryType, the digests of encodings, and what only queries fill.
type StoredCall struct {
	// Seq numbers the calls of a tenant without gaps, from 1.
	Seq int64
	// Principal is who called, empty when nobody was named.
	Principal string
	Change    Change
	// Attributes say by type and tag what the attribute ids of the call stand for: they are other ones in another ledger.
	// The ledger fills them in.
	Attributes map[AttributeID]string
}

// slots are the places in a call that name an attribute.
func (c *StoredCall) slots(yield func(*SlotKey) bool) {
	for i := range c.Change.Facts {
		if !yield(&c.Change.Facts[i].Slot) {
			return
		}
	}
	for i := range c.Change.Candidates {
		if !yield(&c.Change.Candidates[i].Slot) {
			return
		}
	}
	for i := range c.Change.Numbers {
		if !yield(&c.Change.Numbers[i].Slot) {
			return
		}
	}
}

// Canonical is the call as JSON in one form, whichever ledger and engine it comes from: digests in hexadecimal, attributes
// by type and tag instead of their ids, times in microseconds, null for an empty list. It has every value in it.
func (c *StoredCall) Canonical() ([]byte, error) {
	own := *c
	x := &own.Change
	x.Episodes, x.Digests, x.Facts, x.Outcomes = copied(x.Episodes), copied(x.Digests), copied(x.Facts), copied(x.Outcomes)
	x.Candidates, x.Settled, x.Epochs = copied(x.Candidates), copied(x.Settled), copied(x.Epochs)
	x.Encodings, x.Quarantined, x.Numbers = copied(x.Encodings), copied(x.Quarantined), copied(x.Numbers)
	for slot := range own.slots {
		slot.Member, slot.Attribute = c.Attributes[slot.Attribute]+":"+inHex(slot.Member), 0
	}
	own.Attributes = nil
	for i := range x.Episodes {
		e := &x.Episodes[i]
		e.OccurredAt, x.Digests[i] = Instant(e.OccurredAt.UnixMicro()).Time(), inHex(x.Digests[i])
		e.Body, e.Metadata = copied(e.Body), copied(e.Metadata)
	}
	for i := range x.Outcomes {
		o := &x.Outcomes[i]
		o.Key, o.Payload, o.Digest = inHex(o.Key), inHex(o.Payload), inHex(o.Digest)
	}
	for i := range x.Facts {
		x.Facts[i].Encoded = copied(x.Facts[i].Encoded)
	}
	for i := range x.Candidates {
		x.Candidates[i].LostTo = copied(x.Candidates[i].LostTo)
	}
	for i := range x.Encodings {
		x.Encodings[i].Defaulted = copied(x.Encodings[i].Defaulted)
	}
	for i := range x.Numbers {
		x.Numbers[i].Digest = inHex(x.Numbers[i].Digest)
	}
	slices.SortFunc(x.Numbers, func(a, b NumberedValue) int {
		return cmp.Or(cmp.Compare(a.Slot.Scope, b.Slot.Scope), cmp.Compare(a.Slot.Subject, b.Slot.Subject),
			cmp.Compare(a.Slot.Member, b.Slot.Member), cmp.Compare(a.Digest, b.Digest))
	})
	return json.Marshal(&own)
}

func inHex(digest string) string { return hex.EncodeToString([]byte(digest)) }

// copied is a copy of a list, nil of an empty one.
func copied[T any, L ~[]T](list L) L {
	if len(list) == 0 {
		return nil
	}
	return slices.Clone(list)
}

// RunStore is a [Store] that can take a run of calls at little more than the price of one.
type RunStore interface {
	// WriteRun is Write for each call in its order: each is decided on what those before it left. Calls may share a durable
	// commit. It returns the error of the first call that failed; of the others some may be stored.
	WriteRun(ctx context.Context, t TenantID, run []RunCall) error
}

// RunCall is one call of a run.
type RunCall struct {
	Call   *Call
	Decide func(*Snapshot) (*Change, error)
}

// LastKnown is the known time of the tenant's last call, [Beginning] when there was none.
func (t *Tenant) LastKnown(ctx context.Context) (Instant, error) {
	page, err := t.read(ctx, &Query{Kind: QueryClock})
	if err != nil {
		return Beginning, err
	}
	return page.LastKnown, nil
}

// Calls lists the calls known after an instant of known time, in order; [Beginning] lists all. It is for copies of a
// ledger, which package transfer makes. A call with erased content cannot be told whole: [ErrUnsupported].
func (t *Tenant) Calls(ctx context.Context, after Instant) iter.Seq2[*StoredCall, error] {
	q := &Query{Kind: QueryCalls, Since: after, Known: Forever}
	return func(yield func(*StoredCall, error) bool) {
		for c, err := range walkTenant(ctx, t, q, func(p *Page) []StoredCall { return p.Calls }) {
			if err != nil {
				yield(nil, err)
				return
			}
			if err := t.l.identify(ctx, c); err != nil {
				yield(nil, err)
				return
			}
			c.sort()
			if !yield(c, nil) {
				return
			}
		}
	}
}

// identify says what the attributes of a call are. Another process may have registered them.
func (l *Ledger) identify(ctx context.Context, c *StoredCall) error {
	c.Attributes = map[AttributeID]string{}
	known := func() bool {
		l.mu.RLock()
		defer l.mu.RUnlock()
		for slot := range c.slots {
			a := l.catalog.byID[slot.Attribute]
			if a == nil {
				return false
			}
			c.Attributes[slot.Attribute] = a.identity()
		}
		for i := range c.Change.Facts {
			f := &c.Change.Facts[i]
			f.MemoryType = l.catalog.byID[f.Slot.Attribute].typ
		}
		return true
	}
	if known() {
		return nil
	}
	if err := l.reload(ctx); err != nil {
		return err
	}
	if !known() {
		return fmt.Errorf("sgam: call %d is about an attribute that is not registered", c.Seq)
	}
	return nil
}

// identities are the ids of all attributes by what they are.
func (l *Ledger) identities() map[string]AttributeID {
	l.mu.RLock()
	defer l.mu.RUnlock()
	ids := make(map[string]AttributeID, len(l.catalog.byID))
	for id, a := range l.catalog.byID {
		ids[a.identity()] = id
	}
	return ids
}

// sort brings what engines list in any order into one.
func (c *StoredCall) sort() {
	slices.SortFunc(c.Change.Epochs, func(a, b Epoch) int { return cmp.Compare(a.Type, b.Type) })
	slices.SortFunc(c.Change.Encodings, func(a, b NewEncoding) int {
		return cmp.Or(cmp.Compare(a.Fact, b.Fact), cmp.Compare(a.Version, b.Version))
	})
	slices.SortFunc(c.Change.Quarantined, func(a, b Quarantined) int {
		return cmp.Or(cmp.Compare(a.Fact, b.Fact), cmp.Compare(a.Version, b.Version))
	})
}

// AdoptType stores a schema version of another ledger, with its lens. Whether it may follow the one before was judged there.
// An equal version changes nothing; [ErrSchemaDrift], [ErrSchemaGap] and [ErrLensInUse] say that this ledger holds others.
func (l *Ledger) AdoptType(ctx context.Context, doc TypeDocument) error {
	switch {
	case l.closed.Load():
		return ErrClosed
	case l.opts.ReadOnly:
		return ErrReadOnly
	}
	if err := l.store.Register(ctx, doc); err != nil {
		return fmt.Errorf("sgam: adopt type %q version %d: %w", doc.Type, doc.Version, err)
	}
	return l.reload(ctx)
}

// Adopt records calls of a tenant of another ledger as its own, in order and at their known times. Nothing is judged again:
// what was decided there is what is recorded, and the layers that follow from the facts are derived anew. The schema versions
// must be there (see [Ledger.AdoptType]), and the digests of both ledgers be keyed with one secret.
//
// A call that is there already changes nothing, so that a copy may be made again from anywhere. [ErrOtherHistory] says that
// another call is in its place, [ErrCallGap] that the one before it is missing. After an error some of the calls may be
// recorded.
func (t *Tenant) Adopt(ctx context.Context, calls []*StoredCall) error {
	switch {
	case t.l.closed.Load():
		return ErrClosed
	case t.l.opts.ReadOnly:
		return ErrReadOnly
	}
	defer t.l.forgetEpochs(t.id.name)
	ids := t.l.identities()
	run := make([]RunCall, len(calls))
	for i, c := range calls {
		a, err := adopt(c, ids)
		if err != nil {
			return err
		}
		run[i] = RunCall{a.call, a.decide}
	}
	if many, ok := t.l.store.(RunStore); ok {
		return many.WriteRun(ctx, t.id, run)
	}
	for _, c := range run {
		if err := t.l.store.Write(ctx, t.id, c.Call, c.Decide); err != nil {
			return err
		}
	}
	return nil
}

// adoption is one call on its way into a copy.
type adoption struct {
	stored *StoredCall // with the attribute ids of the copy
	call   *Call
	slots  map[SlotKey]int // in call.Targets
	gone   []LoggedFact    // the call's withdrawals
}

func adopt(from *StoredCall, ids map[string]AttributeID) (*adoption, error) {
	c := *from
	x := &c.Change
	x.Facts, x.Candidates, x.Numbers = slices.Clone(x.Facts), slices.Clone(x.Candidates), slices.Clone(x.Numbers)
	for slot := range c.slots {
		id, known := ids[c.Attributes[slot.Attribute]]
		if !known {
			return nil, fault("attribute", "unknown", "an attribute of a registered memory type")
		}
		slot.Attribute = id
	}
	a := &adoption{stored: &c, call: &Call{Principal: c.Principal}, slots: map[SlotKey]int{}}
	for i := range x.Facts {
		a.aim(&x.Facts[i])
	}
	return a, nil
}

// aim names what a fact's slot needs: what stands where the fact reached, or the whole log for a withdrawal.
func (a *adoption) aim(f *NewFact) {
	if !f.states() {
		if a.call.Withdraw == nil {
			a.call.Withdraw = &Selector{}
		}
		a.call.Withdraw.Facts = append(a.call.Withdraw.Facts, f.Target)
		a.gone = append(a.gone, f.LoggedFact)
		return
	}
	i, ok := a.slots[f.Slot]
	if !ok {
		a.slots[f.Slot] = len(a.call.Targets)
		a.call.Targets = append(a.call.Targets, Target{Slot: f.Slot, Window: f.Reach})
		return
	}
	at := &a.call.Targets[i]
	at.Window = Span{min(at.Window.From, f.Reach.From), max(at.Window.To, f.Reach.To)}
}

// decide plans what follows from the facts. Their reach is recorded, so that no change-point is looked for.
func (a *adoption) decide(s *Snapshot) (*Change, error) {
	if there, err := a.isThere(s); there || err != nil {
		return nil, err
	}
	from := &a.stored.Change
	c := &Change{
		Known: from.Known, Episodes: from.Episodes, Digests: from.Digests, Facts: from.Facts, Outcomes: from.Outcomes,
		Candidates: from.Candidates, Settled: from.Settled, Epochs: from.Epochs, Encodings: from.Encodings,
		Quarantined: from.Quarantined, Migration: from.Migration, Numbers: slices.Clip(from.Numbers),
	}
	work := make([]*workSlot, len(s.Slots))
	for i, standing := range s.Slots {
		work[i] = newWorkSlot(standing, nil)
	}
	for i := range c.Facts {
		f := &c.Facts[i]
		if !f.states() {
			continue
		}
		work[a.slots[f.Slot]].plan(proposal{f.LoggedFact, f.Reach})
	}
	for _, w := range work {
		w.changes(c)
	}
	for _, log := range s.Logs {
		rewind(log, a.gone, c)
	}
	return c, nil
}

// isThere reports whether the call is recorded already, and fails when it cannot be the next one.
func (a *adoption) isThere(s *Snapshot) (bool, error) {
	known := a.stored.Change.Known
	switch {
	case s.LastSeq > a.stored.Seq, s.LastSeq == a.stored.Seq && s.LastKnown == known:
		return true, nil
	case s.LastSeq+1 < a.stored.Seq:
		return false, fmt.Errorf("%w: call %d cannot follow call %d", ErrCallGap, a.stored.Seq, s.LastSeq)
	case s.LastSeq == a.stored.Seq, s.LastKnown >= known, len(a.stored.Change.Facts) > 0 && a.stored.Change.Facts[0].Number != s.LastFact+1:
		return false, fmt.Errorf("%w: call %d is another one", ErrOtherHistory, a.stored.Seq)
	}
	return false, nil
}
