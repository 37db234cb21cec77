package sgam

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"
)

// Difference is one region of valid time about which the belief changed.
type Difference struct {
	Slot  Slot
	Valid Interval
	// Before and After are what was believed; a nil Fact is unknown.
	Before, After Stretch
	// Cause is the fact that brought the new belief, or, when nothing is believed any more, the one that ended the old.
	Cause MemoryID
}

// Diff lists what the tenant believed at k2 otherwise than at k1, with the fact that caused each difference. Both are
// known times; k1 must not be later than k2. It is about one scope: the filter's, or everyone in the tenant.
func (t *Tenant) Diff(ctx context.Context, k1, k2 time.Time, f Filter) iter.Seq2[Difference, error] {
	return func(yield func(Difference, error) bool) {
		d := differ{t: t, yield: yield, limit: f.Limit}
		if err := d.run(ctx, k1, k2, f); err != nil && !errors.Is(err, errStop) {
			yield(Difference{}, err)
		}
	}
}

// errStop ends a walk when the caller breaks out of its loop.
var errStop = errors.New("stop")

type differ struct {
	t     *Tenant
	yield func(Difference, error) bool
	limit int
	n     int
}

func (d *differ) run(ctx context.Context, k1, k2 time.Time, f Filter) error {
	from, err := InstantOf(k1)
	if err != nil {
		return err
	}
	to, err := InstantOf(k2)
	if err != nil {
		return err
	}
	if from > to {
		return &FieldError{Field: "k2", Rule: "interval", Want: "a known time that is not before the first", err: ErrEmptyInterval}
	}
	ids, any, err := d.t.attributes(ctx, f)
	if err != nil || !any {
		return err
	}
	scopes := f.Scopes
	switch len(scopes) {
	case 0:
		scopes = everyone
	case 1:
		if fe := checkName("scope", string(scopes[0]), true); fe != nil {
			return fe
		}
	default:
		return fmt.Errorf("%w: the filter names %d", ErrOneScope, len(scopes))
	}
	last, err := d.t.read(ctx, &Query{Kind: QueryClock})
	if err != nil {
		return err
	}
	to = min(to, last.LastKnown)
	q := &Query{Kind: QueryTouched, Since: from, Known: to, Subjects: f.Subjects, Attributes: ids, Scopes: scopes}
	for key, err := range walkTenant(ctx, d.t, q, func(p *Page) []SlotKey { return p.Slots }) {
		if err != nil {
			return err
		}
		if err := d.slot(ctx, *key, from, to); err != nil {
			return err
		}
	}
	return nil
}

// believed reads the whole timeline of a slot at one known time.
func (d *differ) believed(ctx context.Context, key SlotKey, known Instant) ([]Row, error) {
	var rows []Row
	for row, err := range d.t.rows(ctx, &Query{Kind: QueryTimeline, Slots: []SlotKey{key}, Known: known}) {
		if err != nil {
			return nil, err
		}
		rows = append(rows, *row)
	}
	return rows, nil
}

// slot compares one slot's two timelines, region by region.
func (d *differ) slot(ctx context.Context, key SlotKey, k1, k2 Instant) error {
	before, err := d.believed(ctx, key, k1)
	if err != nil {
		return err
	}
	after, err := d.believed(ctx, key, k2)
	if err != nil {
		return err
	}
	name, member := d.name(key, before, after)
	var last *Difference
	for _, region := range regions(before, after) {
		b, a := d.stretchAt(before, region.From), d.stretchAt(after, region.From)
		if b.equal(&a) {
			continue
		}
		cause, err := d.cause(ctx, key, region.From, k2, a)
		if err != nil {
			return err
		}
		next := Difference{
			Slot: Slot{key.Scope, key.Subject, name, member}, Valid: region.Interval(), Before: b, After: a, Cause: cause,
		}
		if last != nil && last.Valid.To != nil && last.Valid.To.Equal(next.Valid.From) && last.Cause == next.Cause &&
			last.Before.equal(&next.Before) && last.After.equal(&next.After) {
			last.Valid.To = next.Valid.To
			continue
		}
		if err := d.emit(last); err != nil {
			return err
		}
		last = &next
	}
	return d.emit(last)
}

func (d *differ) emit(x *Difference) error {
	if x == nil {
		return nil
	}
	if d.n++; !d.yield(*x, nil) || d.n == d.limit {
		return errStop
	}
	return nil
}

// name finds the attribute's name, and the value that names a member.
func (d *differ) name(key SlotKey, lists ...[]Row) (string, json.RawMessage) {
	d.t.l.mu.RLock()
	a := d.t.l.catalog.byID[key.Attribute]
	d.t.l.mu.RUnlock()
	var member json.RawMessage
	for _, rows := range lists {
		for i := range rows {
			if key.Member != "" && len(rows[i].Fact.Value) > 0 {
				member = rows[i].Fact.Value
			}
		}
	}
	if a == nil {
		return "", member
	}
	return a.Name, member
}

// cause is the fact that brought the belief which holds at k2: the first of the unbroken run of segments of the same
// owner. When nothing is believed any more it is the fact that ended the last belief.
func (d *differ) cause(ctx context.Context, key SlotKey, valid, k2 Instant, after Stretch) (MemoryID, error) {
	var owner, cause MemoryID
	var until *time.Time // the end of the run so far
	for row, err := range d.t.rows(ctx, &Query{Kind: QueryBelieved, Slots: []SlotKey{key}, Valid: valid, Known: Forever}) {
		if err != nil {
			return MemoryID{}, err
		}
		if row.Fact.Known.From.After(k2.Time()) {
			break
		}
		if row.Fact.ID != owner || until == nil || !until.Equal(row.Fact.Known.From) {
			owner, cause = row.Fact.ID, row.OpenedBy
		}
		until = row.Fact.Known.To
		if after.Fact == nil {
			cause = row.ClosedBy
		}
	}
	return cause, nil
}

// stretchAt is what a timeline says about one instant.
func (d *differ) stretchAt(rows []Row, at Instant) Stretch {
	for i := range rows {
		if rows[i].Fact.Valid.Contains(at.Time()) {
			return d.t.stretch(&rows[i])
		}
	}
	return Stretch{Reason: ErrUnknown}
}

// regions cuts valid time at every bound of the two timelines.
func regions(lists ...[]Row) []Span {
	var cuts []Instant
	for _, rows := range lists {
		for i := range rows {
			cuts = append(cuts, instantOf(rows[i].Fact.Valid.From))
			if to := rows[i].Fact.Valid.To; to != nil {
				cuts = append(cuts, instantOf(*to))
			} else {
				cuts = append(cuts, Forever)
			}
		}
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	spans := make([]Span, 0, len(cuts))
	for i := 1; i < len(cuts); i++ {
		spans = append(spans, Span{cuts[i-1], cuts[i]})
	}
	return spans
}

// instantOf is the instant of a time that came out of the ledger.
func instantOf(t time.Time) Instant { return Instant(t.UnixMicro()) }
