package sgam

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"time"
)

// Batch is one call of several deltas: one known time, one transaction.
type Batch struct {
	// Episodes are stored even when every delta that names them is rejected.
	Episodes []Episode
	Deltas   []MemoryDelta
	// AllOrNothing applies every delta or none: if one would not end as applied, confirmed or duplicate, the others
	// are rejected with code "all_or_nothing".
	AllOrNothing bool
	// KnownAt gives the known time, for import and replay. It must be later than the tenant's last one: ErrKnownTime.
	// Nil takes it from the clock.
	KnownAt *time.Time
	// AcceptClock lets this call pass MaxForwardJump.
	AcceptClock bool
}

// Apply submits one delta and answers with its receipt. An error means that nothing was decided: the context or the
// store failed, the ledger is closed, or the call is malformed (no episode named, another tenant's delta).
func (t *Tenant) Apply(ctx context.Context, d MemoryDelta) (Receipt, error) {
	receipts, err := t.ApplyBatch(ctx, Batch{Deltas: []MemoryDelta{d}})
	if err != nil {
		return Receipt{}, err
	}
	return receipts[0], nil
}

// ApplyBatch submits deltas and episodes under one known time. Each delta gets a receipt of its own, in order.
func (t *Tenant) ApplyBatch(ctx context.Context, b Batch) ([]Receipt, error) {
	return t.submit(ctx, b, false)
}

// Preview plans a batch against what stands now and writes nothing. The receipts are what ApplyBatch would answer,
// but for ids and known time, which are drawn anew.
func (t *Tenant) Preview(ctx context.Context, b Batch) ([]Receipt, error) {
	return t.submit(ctx, b, true)
}

// Record stores an episode without any delta. Recording the same episode again changes nothing; other content under
// the same id is a [*ValidationError].
func (t *Tenant) Record(ctx context.Context, e Episode) error {
	_, err := t.ApplyBatch(ctx, Batch{Episodes: []Episode{e}})
	return err
}

func (t *Tenant) submit(ctx context.Context, b Batch, dry bool) ([]Receipt, error) {
	receipts, err := t.trySubmit(ctx, b, dry)
	if o := t.l.opts.Observe; o != nil && !dry {
		if err != nil {
			o.Refused(t.id.name, err)
		}
		for i, r := range receipts {
			o.Decided(t.id.name, b.Deltas[i].Attribute, r.Outcome, r.Code)
		}
	}
	return receipts, err
}

// trySubmit prepares and writes a call, again when somebody registered a schema version in between.
func (t *Tenant) trySubmit(ctx context.Context, b Batch, dry bool) ([]Receipt, error) {
	if err := t.mayWrite(ctx, dry); err != nil {
		return nil, err
	}
	var receipts []Receipt
	err := t.whileStale(ctx, func() (err error) {
		receipts, err = t.submitOnce(ctx, b, dry)
		return err
	})
	return receipts, err
}

// whileStale runs a call again, with the registry and the epochs read anew, when they changed while it was prepared.
func (t *Tenant) whileStale(ctx context.Context, call func() error) error {
	const most = 100 // nobody registers versions faster than a call is prepared
	var err error
	for range most {
		if err = call(); !errors.Is(err, errStale) {
			return err
		}
		if err := t.l.reload(ctx); err != nil {
			return err
		}
	}
	return fmt.Errorf("%w: %w", ErrBusy, err)
}

// errStale says that a call was judged by a registry or an epoch that is not the newest.
var errStale = errors.New("sgam: the registry or an epoch has changed")

func (t *Tenant) submitOnce(ctx context.Context, b Batch, dry bool) ([]Receipt, error) {
	p, err := t.prepare(ctx, b, false)
	if err != nil {
		return nil, err
	}
	p.call.DryRun = dry
	if len(b.Deltas)+len(b.Episodes) == 0 {
		return nil, nil
	}
	var receipts []Receipt
	err = t.l.store.Write(ctx, t.id, p.call, func(s *Snapshot) (*Change, error) {
		var c *Change
		var err error
		receipts, c, err = p.decide(s)
		return c, err
	})
	if err != nil {
		return nil, err
	}
	return receipts, nil
}

// mayWrite is the gate of every write.
func (t *Tenant) mayWrite(ctx context.Context, dry bool) error {
	switch {
	case t.l.closed.Load():
		return ErrClosed
	case t.l.opts.ReadOnly && !dry:
		return ErrReadOnly
	case t.l.opts.Schemas == nil:
		return ErrNoSchemas
	}
	if fe := checkName("principal", t.principal, true); fe != nil {
		return fe
	}
	return ctx.Err()
}

// knownTime picks the call's known time (rule R1).
func (l *Ledger) knownTime(last, given Instant, accept bool) (Instant, error) {
	if given != Beginning {
		if given <= last {
			return 0, ErrKnownTime
		}
		return given, nil
	}
	now := l.now()
	if last == Beginning {
		return now, nil
	}
	if tolerance := l.opts.ClockTolerance; tolerance >= 0 && last-now > Instant(tolerance.Microseconds()) {
		return 0, ErrClockBehind
	}
	if jump := l.opts.MaxForwardJump; jump > 0 && !accept && now-last > Instant(jump.Microseconds()) {
		return 0, ErrClockJump
	}
	if last+1 >= doomsday {
		return 0, fault("known_at", "range", "a known time before the year 9999")
	}
	return max(now, last+1), nil
}

// told reports one decision to the observer and passes it on.
func (t *Tenant) told(attribute string, r Receipt, err error) (Receipt, error) {
	if o := t.l.opts.Observe; o != nil {
		if err != nil {
			o.Refused(t.id.name, err)
		} else {
			o.Decided(t.id.name, attribute, r.Outcome, r.Code)
		}
	}
	if err != nil {
		return Receipt{}, err
	}
	return r, nil
}

// HeldCandidate is a delta that was not applied: pending until it is accepted or declined, or disputed by the facts
// that it was too weak for.
type HeldCandidate struct {
	Memory    MemoryID    `json:"memory_id"`
	Status    Outcome     `json:"status"`
	Delta     MemoryDelta `json:"delta"`
	Known     time.Time   `json:"known_at"`
	Principal string      `json:"principal,omitempty"`
	LostTo    []MemoryID  `json:"lost_to,omitempty"`
}

// Held lists the candidates with the given statuses, of all without any, in the order in which they were submitted.
func (t *Tenant) Held(ctx context.Context, statuses ...Outcome) iter.Seq2[HeldCandidate, error] {
	return func(yield func(HeldCandidate, error) bool) {
		q := &Query{Kind: QueryCandidates, Statuses: statuses, Known: Forever}
		for c, err := range walkTenant(ctx, t, q, func(p *Page) []Candidate { return p.Candidates }) {
			if err != nil {
				yield(HeldCandidate{}, err)
				return
			}
			if h, err := c.held(); !yield(h, err) || err != nil {
				return
			}
		}
	}
}

// encodeCandidate keeps a delta for a later Accept: without what belongs to its call.
func encodeCandidate(d *prepared) (json.RawMessage, error) {
	kept := d.MemoryDelta
	kept.Episode, kept.TenantID, kept.IdempotencyKey, kept.Value = nil, "", "", d.value
	from := d.span.From.Time()
	kept.ValidFrom, kept.SchemaVersion = &from, d.form.version
	return json.Marshal(kept)
}

func (c *Candidate) held() (HeldCandidate, error) {
	h := HeldCandidate{Memory: c.Memory, Status: c.Status, Known: c.KnownAt.Time(), Principal: c.Principal, LostTo: c.LostTo}
	if err := json.Unmarshal(c.Delta, &h.Delta); err != nil {
		return HeldCandidate{}, fmt.Errorf("sgam: candidate %s: %w", c.Memory, err)
	}
	return h, nil
}

// Accept applies a pending or disputed candidate: guard and reach are evaluated now, at the known time of the
// acceptance, and the conflict policy has been passed. What is not held any more is a rejected receipt.
func (t *Tenant) Accept(ctx context.Context, candidate MemoryID) (Receipt, error) {
	return t.settle(ctx, candidate, true)
}

// Decline refuses a pending or disputed candidate for good.
func (t *Tenant) Decline(ctx context.Context, candidate MemoryID) (Receipt, error) {
	return t.settle(ctx, candidate, false)
}

func (t *Tenant) settle(ctx context.Context, id MemoryID, accept bool) (Receipt, error) {
	if err := t.mayWrite(ctx, false); err != nil {
		return Receipt{}, err
	}
	page, err := t.read(ctx, &Query{Kind: QueryCandidates, Memory: id, Known: Forever, Limit: 1})
	if err != nil {
		return Receipt{}, err
	}
	if len(page.Candidates) == 0 {
		return Receipt{}, ErrNotFound
	}
	h, err := page.Candidates[0].held()
	if err != nil {
		return Receipt{}, err
	}
	var r Receipt
	err = t.whileStale(ctx, func() (err error) {
		r, err = t.settleOnce(ctx, h, accept)
		return err
	})
	return t.told(h.Delta.Attribute, r, err)
}

func (t *Tenant) settleOnce(ctx context.Context, h HeldCandidate, accept bool) (Receipt, error) {
	p, err := t.prepare(ctx, Batch{Deltas: []MemoryDelta{h.Delta}}, true)
	if err != nil {
		return Receipt{}, err
	}
	d := &p.deltas[0]
	p.call.Candidate, p.call.Keys = h.Memory, nil
	d.key, d.payload, d.principal, d.memory = "", "", h.Principal, h.Memory
	var r Receipt
	err = t.l.store.Write(ctx, t.id, p.call, func(s *Snapshot) (*Change, error) {
		var c *Change
		r, c, err = p.settle(s, accept)
		return c, err
	})
	return r, err
}

// settle decides an acceptance or a refusal under the lock.
func (p *submission) settle(s *Snapshot, accept bool) (Receipt, *Change, error) {
	held := s.Candidate
	if held == nil {
		return Receipt{}, nil, ErrNotFound
	}
	if held.Status != Pending && held.Status != Disputed {
		done := accept && (held.Status == Applied || held.Status == Confirmed) || !accept && held.Status == Declined
		if done {
			return Receipt{Outcome: Duplicate, Earlier: held.Status, Memory: held.Memory, Principal: p.t.principal}, nil, nil
		}
		r := reject(codeSettled, *fault("memory_id", "state", "a candidate that is still held; this one is "+string(held.Status))).receipt()
		r.Memory = held.Memory
		return r, nil, nil
	}
	if !accept {
		known, err := p.t.l.knownTime(s.LastKnown, Beginning, false)
		if err != nil {
			return Receipt{}, nil, err
		}
		d := &p.deltas[0]
		return Receipt{Outcome: Declined, Memory: held.Memory, Known: known.Time(), Principal: p.t.principal}, &Change{
			Known:    known,
			Settled:  []SettledCandidate{{Memory: held.Memory, Status: Declined}},
			Outcomes: []NewOutcome{{Outcome: Declined, Op: d.Op, Attribute: d.Attribute, Principal: p.t.principal, Memory: held.Memory}},
		}, nil
	}
	receipts, change, err := p.decide(s)
	if err != nil {
		return Receipt{}, nil, err
	}
	r := receipts[0]
	if r.Outcome != Rejected {
		change.Settled = append(change.Settled, SettledCandidate{Memory: held.Memory, Status: r.Outcome, Fact: change.Facts[0].Number})
	}
	r.Memory = held.Memory
	return r, change, nil
}
