package sgam

import (
	"fmt"
	"slices"
)

// decision is the state of one call while its deltas are decided in order.
type decision struct {
	*submission
	snap     *Snapshot
	change   *Change
	slots    map[SlotKey]*workSlot
	order    []*workSlot
	earlier  map[string]int // keys of this call, by delta
	stored   map[string]bool
	nextFact int64
	receipts []Receipt
	ids      map[int64]MemoryID
	byFact   map[int64]int // the delta behind each new fact
	repeats  map[int]int   // a delta of this call that repeats an earlier one of it
	held     bool          // some delta was not applied
}

// decide turns the snapshot into receipts and a change. It may run more than once, and keeps nothing between runs.
func (p *submission) decide(s *Snapshot) ([]Receipt, *Change, error) {
	d, err := p.begin(s)
	if err != nil {
		return nil, nil, err
	}
	for i := range p.deltas {
		if err := d.one(i); err != nil {
			return nil, nil, err
		}
	}
	if p.batch.AllOrNothing && d.held {
		if d, err = d.none(); err != nil {
			return nil, nil, err
		}
	}
	for _, id := range p.batchEpisodes() {
		if err := d.keepEpisode(id); err != nil {
			return nil, nil, err
		}
	}
	d.finish()
	if len(d.change.Episodes)+len(d.change.Outcomes)+len(d.change.Settled) == 0 {
		return d.receipts, nil, nil
	}
	return d.receipts, d.change, nil
}

func (p *submission) batchEpisodes() []string {
	var ids []string
	for _, id := range p.order {
		if p.explicit[id] {
			ids = append(ids, id)
		}
	}
	return ids
}

func (p *submission) begin(s *Snapshot) (*decision, error) {
	if s.Registry > p.registry || !p.fresh(s) {
		return nil, errStale
	}
	known, err := p.t.l.knownTime(s.LastKnown, p.known, p.batch.AcceptClock)
	if err != nil {
		return nil, err
	}
	d := &decision{
		submission: p, snap: s, change: &Change{Known: known}, slots: map[SlotKey]*workSlot{}, earlier: map[string]int{},
		stored: map[string]bool{}, nextFact: s.LastFact + 1, ids: map[int64]MemoryID{}, receipts: make([]Receipt, len(p.deltas)),
		byFact: map[int64]int{}, repeats: map[int]int{},
	}
	for i, standing := range s.Slots {
		d.add(standing, p.call.Targets[i].Digests)
	}
	// Members of a set slot that are targets themselves were loaded with their digests.
	for _, standing := range s.Slots {
		for _, m := range standing.Members {
			if d.slots[m.Slot] == nil {
				d.add(m, nil)
			}
		}
	}
	return d, nil
}

func (d *decision) add(s Standing, digests []string) {
	w := newWorkSlot(s, digests)
	d.slots[s.Slot] = w
	d.order = append(d.order, w)
	for i := range s.Open {
		d.ids[s.Open[i].Fact.Number] = s.Open[i].Fact.ID
	}
}

// none starts over with every delta refused, for a call that is all or nothing.
func (d *decision) none() (*decision, error) {
	clean, err := d.begin(d.snap)
	if err != nil {
		return nil, err
	}
	for i := range d.deltas {
		_, again := d.repeats[i]
		switch was := d.receipts[i]; {
		case was.Outcome == Rejected, was.Outcome == Duplicate && !again:
			clean.receipts[i] = was
		default:
			clean.receipts[i] = reject(codeBatch, *fault("", "all_or_nothing", "every delta of the call to be applied")).receipt()
		}
		if clean.receipts[i].Outcome == Rejected {
			clean.outcome(i, clean.receipts[i])
		}
	}
	return clean, nil
}

// one decides one delta.
func (d *decision) one(i int) error {
	p := &d.deltas[i]
	r, err := d.answer(i, p)
	if err != nil {
		return err
	}
	r.Principal = d.t.principal
	d.receipts[i] = r
	if r.Outcome != Duplicate {
		d.outcome(i, r)
		if r.Outcome != Rejected && p.key != "" {
			d.earlier[p.key] = i
		}
	}
	d.held = d.held || r.Outcome == Rejected || r.Outcome == Pending || r.Outcome == Disputed
	return nil
}

func (d *decision) answer(i int, p *prepared) (Receipt, error) {
	if r, repeat := d.repeated(i, p); repeat {
		return r, nil
	}
	if p.refused != nil {
		return p.refused.receipt(), nil
	}
	kind, refused := d.source(p)
	if refused != nil {
		return refused.receipt(), nil
	}
	passes := kind == UserConfirmation || d.accepted
	if p.attr.Policy == ConfirmFirst && !passes {
		return d.hold(i, p, Pending, nil)
	}
	w, set := d.slots[d.call.Targets[p.target].Slot], (*workSlot)(nil)
	if p.set >= 0 && p.set != p.target {
		set = d.slots[d.call.Targets[p.set].Slot]
	}
	if p.ExpectCurrent != nil && !d.expected(w, p) {
		return reject(codeGuard, *fault("expect_current", "guard", "the fact that holds at valid_from")).receipt(), nil
	}
	number := int64(0)
	if p.Op == Assert || p.Op == Correct {
		number = w.peek(p.digest)
	}
	reach := w.reach(p.Op, p.span, set)
	stops := d.stops(p, w)
	if !passes {
		if p.attr.Policy == Immutable && (w.holdsOther(p.Op, number) || len(stops) > 0 && p.Op == End) {
			return reject(codeImmutable, *fault("value", "immutable", "the value that the slot already holds")).receipt(), nil
		}
		lost := d.lost(w, p, reach, number, kind)
		for _, s := range stops {
			lost = append(lost, d.lost(s.slot, p, s.reach, 0, kind)...)
		}
		if lost != nil {
			return d.hold(i, p, Disputed, lost)
		}
	}
	return d.apply(i, p, w, stops, kind, reach)
}

// repeated answers a delta whose idempotency key was seen before, in the store or in this call.
func (d *decision) repeated(i int, p *prepared) (Receipt, bool) {
	var earlier Receipt
	var payload string
	if p.key == "" {
		return Receipt{}, false
	}
	if k := d.snap.Outcomes[p.keyAt]; k != nil {
		earlier, payload = k.Receipt, k.Payload
	} else if j, ok := d.earlier[p.key]; ok {
		d.repeats[i] = j
		earlier, payload = d.receipts[j], d.deltas[j].payload
	} else {
		return Receipt{}, false
	}
	if payload != p.payload {
		delete(d.repeats, i)
		return reject(codeIdempotency, FieldError{
			Field: "idempotency_key", Rule: "unique", Want: "a key of its own for each payload", err: ErrIdempotencyMismatch,
		}).receipt(), true
	}
	earlier.Earlier, earlier.Outcome = earlier.Outcome, Duplicate
	return earlier, true
}

// source resolves the delta's episode and says of which kind it is.
func (d *decision) source(p *prepared) (EpisodeKind, *rejection) {
	stored := d.snap.Episodes[d.epIndex[p.EpisodeID]]
	brought := d.episodes[p.EpisodeID]
	switch {
	case stored != nil && brought != nil && stored.Digest != d.digests[p.EpisodeID]:
		return "", reject(codeEpisode, *fault("episode", "unique", "one content for one episode id"))
	case stored != nil:
		return stored.Kind, nil
	case brought != nil:
		return brought.Kind, nil
	}
	return "", reject(codeEpisode, *fault("source_episode_id", "unknown", "an episode of this tenant"))
}

// hold keeps a delta that is not applied: pending, or disputed by the facts it lost to.
func (d *decision) hold(i int, p *prepared, status Outcome, lostTo []MemoryID) (Receipt, error) {
	if d.accepted {
		return Receipt{}, fmt.Errorf("sgam: accepted candidate %s was held again", p.memory)
	}
	id, err := d.t.l.newMemoryID()
	if err != nil {
		return Receipt{}, err
	}
	kept, err := encodeCandidate(p)
	if err != nil {
		return Receipt{}, fmt.Errorf("sgam: keep a candidate: %w", err)
	}
	if err := d.keepEpisode(p.EpisodeID); err != nil {
		return Receipt{}, err
	}
	d.change.Candidates = append(d.change.Candidates, NewCandidate{
		Memory: id, Ordinal: i, Status: status, Slot: d.call.Targets[p.target].Slot, Episode: p.EpisodeID, Delta: kept, LostTo: lostTo,
	})
	return Receipt{Outcome: status, Memory: id, Known: d.change.Known.Time(), LostTo: lostTo, Assumed: p.assumed}, nil
}

// keepEpisode stores an episode that was brought along, once. An explicit one whose id is taken by other content fails
// the call.
func (d *decision) keepEpisode(id string) error {
	brought := d.episodes[id]
	if brought == nil || d.stored[id] {
		return nil
	}
	if have := d.snap.Episodes[d.epIndex[id]]; have != nil {
		if have.Digest != d.digests[id] {
			return &ValidationError{Code: codeEpisode, Faults: []FieldError{*fault("episodes/id", "unique", "one content for one episode id")}}
		}
		return nil
	}
	d.stored[id] = true
	d.change.Episodes = append(d.change.Episodes, *brought)
	d.change.Digests = append(d.change.Digests, d.digests[id])
	return nil
}

// apply folds an accepted statement into its slot, and into each member that it stops.
func (d *decision) apply(i int, p *prepared, w *workSlot, stops []stop, kind EpisodeKind, reach Span) (Receipt, error) {
	if err := d.keepEpisode(p.EpisodeID); err != nil {
		return Receipt{}, err
	}
	number := int64(0)
	if p.Op == Assert || p.Op == Correct {
		number = w.number(p.digest, p.others)
	}
	id := p.memory
	if id.IsZero() {
		var err error
		if id, err = d.t.l.newMemoryID(); err != nil {
			return Receipt{}, err
		}
	}
	fact := LoggedFact{
		Number: d.nextFact, ID: id, Slot: w.Slot, Op: p.Op, Asserted: p.span, Value: number, KnownAt: d.change.Known,
		Episode: p.EpisodeID, Kind: kind, Confidence: p.Confidence,
	}
	wrote := d.fold(i, p, w, fact, reach)
	parts := make([]MemoryID, 0, len(stops))
	for _, s := range stops {
		part := fact
		var err error
		if part.ID, err = d.t.l.newMemoryID(); err != nil {
			return Receipt{}, err
		}
		part.Number, part.Slot, part.PartOf = d.nextFact, s.slot.Slot, fact.Number
		wrote = d.fold(i, p, s.slot, part, s.reach) || wrote
		parts = append(parts, part.ID)
	}
	r := Receipt{Outcome: Confirmed, Memory: id, Known: d.change.Known.Time(), Assumed: p.assumed, Parts: parts}
	if wrote {
		r.Outcome = Applied
	}
	r.Supersedes = d.ids[w.supersedes(fact.Number, p.span.From)]
	r.setReach(p.span, reach)
	return r, nil
}

// fold plans one fact into one slot and appends it to the change.
func (d *decision) fold(i int, p *prepared, w *workSlot, fact LoggedFact, reach Span) bool {
	d.nextFact++
	d.ids[fact.Number] = fact.ID
	d.byFact[fact.Number] = i
	wrote := w.plan(proposal{fact, reach})
	retention := p.RetentionPolicy
	if retention == "" {
		retention = p.attr.Retention
	}
	d.change.Facts = append(d.change.Facts, NewFact{
		LoggedFact: fact, MemoryType: p.attr.typ, SchemaVersion: p.form.version, Encoded: p.value, Principal: p.principal,
		Reach: reach, Supersedes: w.supersedes(fact.Number, p.span.From), Retention: retention, Provenance: p.Provenance, Ordinal: i,
	})
	d.keepForms(p, fact.Number)
	return wrote
}

// stop is one member that a statement about all members stops, as far as it reaches there.
type stop struct {
	slot  *workSlot
	reach Span
}

// stops lists the members that hold a value within the reach of an end or void of the whole set (rule R14).
func (d *decision) stops(p *prepared, set *workSlot) []stop {
	if !p.attr.Many || p.value != nil {
		return nil
	}
	var stops []stop
	for _, m := range d.order {
		if m.Slot.Member == "" || m.Slot.Attribute != set.Slot.Attribute || m.Slot.Subject != set.Slot.Subject || m.Slot.Scope != set.Slot.Scope {
			continue
		}
		reach := m.reach(p.Op, p.span, set)
		m.different(reach, 0, func(*piece) bool {
			stops = append(stops, stop{m, reach})
			return false
		})
	}
	return stops
}

// outcome appends the durable outcome of one delta.
func (d *decision) outcome(i int, r Receipt) {
	p := &d.deltas[i]
	o := NewOutcome{
		Ordinal: i, Outcome: r.Outcome, Op: p.Op, Attribute: p.Attribute, Principal: d.t.principal, Memory: r.Memory, Assumed: r.Assumed,
		Fact: d.factOf(r),
	}
	if r.Outcome == Rejected {
		o.Code, o.Digest = r.Code, d.t.l.digest("rejected", p.EpisodeID, string(p.Scope), p.Subject, p.Attribute, string(p.Op), string(p.Value))
		o.Pointer = (&rejection{faults: r.Faults}).pointer()
		if checkAttribute(p.Attribute) != nil || !p.Op.proposed() {
			o.Attribute, o.Op = "", "" // what is no name may be anything, a value too
		}
	} else {
		o.Key, o.Payload = p.key, p.payload
	}
	d.change.Outcomes = append(d.change.Outcomes, o)
}

func (d *decision) factOf(r Receipt) int64 {
	if r.Outcome != Applied && r.Outcome != Confirmed {
		return 0
	}
	for i := len(d.change.Facts) - 1; i >= 0; i-- {
		if d.change.Facts[i].ID == r.Memory {
			return d.change.Facts[i].Number
		}
	}
	return 0
}

// finish closes the fold: what each displaced fact still holds can only be told at the end of the call.
func (d *decision) finish() {
	for _, w := range d.order {
		w.changes(d.change)
	}
	for _, s := range d.change.Superseded {
		r := &d.receipts[d.byFact[s.New]]
		r.Displaced = append(r.Displaced, Displacement{Memory: d.ids[s.Old], By: d.ids[s.New], How: s.How, Valid: s.Valid.Interval()})
	}
	for _, c := range d.change.Confirmed {
		r := &d.receipts[d.byFact[c.New]]
		if id := d.ids[c.Old]; !slices.Contains(r.Confirms, id) {
			r.Confirms = append(r.Confirms, id)
		}
	}
	d.beginEpochs()
	for i, j := range d.repeats {
		r := d.receipts[j]
		r.Earlier, r.Outcome = r.Outcome, Duplicate
		d.receipts[i] = r
	}
}
