package ledgertest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/sgam-ledger/sgam"
)

// keyed is one item of an answer with the key that orders it. Cursors are keys, so that a page goes on where the last
// one ended whatever was written in between.
type keyed[T any] struct {
	key  string
	item T
}

// Read answers one page of a query from everything that was committed.
func (s *Store) Read(ctx context.Context, t sgam.TenantID, q *sgam.Query) (*sgam.Page, error) {
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	s.db.mu.RLock()
	defer s.db.mu.RUnlock()
	have := s.db.tenant[t.Name()]
	if have == nil {
		have = newTenant()
	}
	limit := q.Limit
	if s.opts.PageRows > 0 && (limit == 0 || s.opts.PageRows < limit) {
		limit = s.opts.PageRows
	}
	page := &sgam.Page{LastKnown: have.lastKnown}
	if have.lastSeq > 0 {
		page.Registry = s.db.revision()
	}
	known := min(q.Known, have.lastKnown)
	valid := q.Valid
	if q.Now {
		valid = max(valid, have.lastKnown)
	}
	switch q.Kind {
	case sgam.QueryPoint:
		page.Rows, page.Next = cut(have.points(q, valid, known), q.After, limit)
	case sgam.QueryMembers:
		page.Rows, page.Next = cut(have.memberRows(q, valid, known), q.After, limit)
	case sgam.QueryFacts:
		page.Rows, page.Next = cut(have.factRows(q, valid, known), q.After, limit)
	case sgam.QueryTimeline:
		page.Rows, page.Next = cut(have.timeline(q.Slots[0], known), q.After, limit)
	case sgam.QueryBelieved:
		page.Rows, page.Next = cut(have.believed(q.Slots[0], valid), q.After, limit)
	case sgam.QueryHistory:
		page.Rows, page.Next = cut(have.history(q.Slots[0]), q.After, limit)
	case sgam.QueryMemory:
		if n := have.byID[q.Memory]; n != 0 {
			page.Rows = []sgam.Row{have.historyRow(n)}
		}
	case sgam.QueryTouched:
		page.Slots, page.Next = cut(have.slotsTouched(q, known), q.After, limit)
	case sgam.QueryEpisode:
		if e, ok := have.episodes[q.Episode]; ok {
			page.Episodes = []sgam.Episode{cloneEpisode(e.Episode)}
		}
	case sgam.QueryOutcomes:
		page.Outcomes, page.Next = cut(have.outcomeRecords(q), q.After, limit)
	case sgam.QueryCandidates:
		page.Candidates, page.Next = cut(have.heldCandidates(q), q.After, limit)
	case sgam.QueryLedger:
		page.Dumps, page.Next = cut(have.dumps(), q.After, limit)
	case sgam.QueryClock:
	case sgam.QueryEpochs:
		page.Epochs = have.allEpochs()
	case sgam.QueryMigrations:
		page.Migrations = have.allMigrations()
	case sgam.QueryValues:
		page.Rows, page.Next = cut(have.values(q), q.After, limit)
	case sgam.QueryQuarantine:
		page.Quarantined, page.Next = cut(have.quarantined(q), q.After, limit)
	case sgam.QueryCalls:
		var numbers []int
		numbers, page.Next = cut(have.callsAfter(q.Since), q.After, limit)
		for _, n := range numbers {
			page.Calls = append(page.Calls, have.call(n))
		}
	default:
		return nil, fmt.Errorf("%w: memory: query %d", sgam.ErrUnsupported, q.Kind)
	}
	if q.Encodings || q.Kind == sgam.QueryValues {
		have.encode(page, known)
	}
	return page, nil
}

// cut takes the page after a cursor.
func cut[T any](all []keyed[T], after string, limit int) ([]T, string) {
	slices.SortFunc(all, func(a, b keyed[T]) int { return cmp.Compare(a.key, b.key) })
	var items []T
	last := ""
	for _, k := range all {
		if after != "" && k.key <= after {
			continue
		}
		if limit > 0 && len(items) == limit {
			return items, last
		}
		items, last = append(items, k.item), k.key
	}
	return items, ""
}

// orderOf writes a number so that the texts sort as the numbers do.
func orderOf[T ~int | ~int64](n T) string { return fmt.Sprintf("%020d", uint64(n)^1<<63) }

func orderOfSlot(k sgam.SlotKey) string {
	return string(k.Scope) + "\x00" + k.Subject + "\x00" + orderOf(k.Attribute) + "\x00" + k.Member
}

// row is one segment as a view shows it: a view never looks past its own known time.
func (t *tenant) row(key sgam.SlotKey, g sgam.StoredSegment) sgam.Row {
	r := t.rowOf(g.Fact)
	r.Slot, r.Fact.Valid = key, g.Valid.Interval()
	r.Fact.Known = sgam.Span{From: g.Known.From, To: sgam.Forever}.Interval()
	r.OpenedBy, r.ClosedBy = t.id(g.OpenedBy), t.id(g.ClosedBy)
	return r
}

// rowOf is a fact without the bounds of any segment.
func (t *tenant) rowOf(number int64) sgam.Row {
	f := cloneFact(*t.fact(number))
	return sgam.Row{Slot: f.Slot, Target: t.id(f.Target), Value: f.Value, Fact: sgam.Fact{
		ID: f.ID, Scope: f.Slot.Scope, Subject: f.Slot.Subject, MemoryType: f.MemoryType, Op: f.Op, Value: f.Encoded,
		SchemaVersion: f.SchemaVersion, Asserted: f.Asserted.Interval(), RecordedAt: f.KnownAt.Time(),
		Supersedes: t.id(f.Supersedes), Episode: f.Episode, Principal: f.Principal, Confidence: f.Confidence,
		RetentionPolicy: f.Retention, Provenance: f.Provenance,
	}}
}

// at is the segment of a slot that covers a point of both axes, nil when there is none.
func (s *slot) at(valid, known sgam.Instant) *sgam.StoredSegment {
	for i := range s.segments {
		if g := &s.segments[i]; g.Valid.Contains(valid) && g.Known.Contains(known) {
			return g
		}
	}
	return nil
}

func (t *tenant) points(q *sgam.Query, valid, known sgam.Instant) []keyed[sgam.Row] {
	var out []keyed[sgam.Row]
	for i, key := range q.Slots {
		if g := t.slot(key).at(valid, known); g != nil {
			out = append(out, keyed[sgam.Row]{orderOf(i), t.row(key, *g)})
		}
	}
	return out
}

func (t *tenant) memberRows(q *sgam.Query, valid, known sgam.Instant) []keyed[sgam.Row] {
	var out []keyed[sgam.Row]
	for i, set := range q.Slots {
		for _, key := range append([]sgam.SlotKey{set}, t.members(set)...) {
			if g := t.slot(key).at(valid, known); g != nil {
				out = append(out, keyed[sgam.Row]{orderOf(i) + "\x00" + key.Member, t.row(key, *g)})
			}
		}
	}
	return out
}

// matches reports whether a slot passes the lists of a query.
func matches(q *sgam.Query, key sgam.SlotKey) bool {
	return (len(q.Subjects) == 0 || slices.Contains(q.Subjects, key.Subject)) &&
		(len(q.Attributes) == 0 || slices.Contains(q.Attributes, key.Attribute)) &&
		(len(q.Scopes) == 0 || slices.Contains(q.Scopes, key.Scope))
}

func (t *tenant) factRows(q *sgam.Query, valid, known sgam.Instant) []keyed[sgam.Row] {
	var out []keyed[sgam.Row]
	for key, at := range t.slots {
		if !matches(q, key) {
			continue
		}
		if g := at.at(valid, known); g != nil {
			out = append(out, keyed[sgam.Row]{orderOfSlot(key), t.row(key, *g)})
		}
	}
	return out
}

func (t *tenant) timeline(key sgam.SlotKey, known sgam.Instant) []keyed[sgam.Row] {
	var out []keyed[sgam.Row]
	for _, g := range t.slot(key).segments {
		if g.Known.Contains(known) {
			out = append(out, keyed[sgam.Row]{orderOf(g.Valid.From), t.row(key, g)})
		}
	}
	return out
}

func (t *tenant) believed(key sgam.SlotKey, valid sgam.Instant) []keyed[sgam.Row] {
	var out []keyed[sgam.Row]
	for _, g := range t.slot(key).segments {
		if g.Valid.Contains(valid) {
			r := t.row(key, g)
			r.Fact.Known = g.Known.Interval()
			out = append(out, keyed[sgam.Row]{orderOf(g.Known.From), r})
		}
	}
	return out
}

func (t *tenant) history(key sgam.SlotKey) []keyed[sgam.Row] {
	var out []keyed[sgam.Row]
	for _, n := range t.slot(key).facts {
		out = append(out, keyed[sgam.Row]{orderOf(n), t.historyRow(n)})
	}
	return out
}

// historyRow is a fact as it was recorded: valid as far as it reached, known from then on.
func (t *tenant) historyRow(number int64) sgam.Row {
	f := t.fact(number)
	r := t.rowOf(number)
	r.Fact.Valid = f.Reach.Interval()
	r.Fact.Known = sgam.Span{From: f.KnownAt, To: sgam.Forever}.Interval()
	r.Displaced, r.Confirmed = t.displaced(f), t.confirmed(f)
	return r
}

// slotsTouched are the slots in which a fact was recorded, or a belief began or ended, in (since, known].
func (t *tenant) slotsTouched(q *sgam.Query, known sgam.Instant) []keyed[sgam.SlotKey] {
	within := func(i sgam.Instant) bool { return i > q.Since && i <= known }
	var out []keyed[sgam.SlotKey]
	for key, at := range t.slots {
		touched := slices.ContainsFunc(at.facts, func(n int64) bool { return within(t.fact(n).KnownAt) }) ||
			slices.ContainsFunc(at.segments, func(g sgam.StoredSegment) bool { return within(g.Known.From) || within(g.Known.To) })
		if touched && matches(q, key) {
			out = append(out, keyed[sgam.SlotKey]{orderOfSlot(key), key})
		}
	}
	return out
}

func (t *tenant) outcomeRecords(q *sgam.Query) []keyed[sgam.OutcomeRecord] {
	var out []keyed[sgam.OutcomeRecord]
	for i, o := range t.outcomes {
		if len(q.Statuses) > 0 && !slices.Contains(q.Statuses, o.Outcome) {
			continue
		}
		out = append(out, keyed[sgam.OutcomeRecord]{orderOf(i), sgam.OutcomeRecord{
			Known: o.known.Time(), Ordinal: o.Ordinal, Outcome: o.Outcome, Memory: o.Memory, Code: o.Code, Pointer: o.Pointer,
			Op: o.Op, Attribute: o.Attribute, Principal: o.Principal,
		}})
	}
	return out
}

func (t *tenant) heldCandidates(q *sgam.Query) []keyed[sgam.Candidate] {
	var out []keyed[sgam.Candidate]
	for i, c := range t.candidates {
		if (len(q.Statuses) == 0 || slices.Contains(q.Statuses, c.Status)) && (q.Memory.IsZero() || c.Memory == q.Memory) {
			out = append(out, keyed[sgam.Candidate]{orderOf(i), cloneCandidate(c.Candidate)})
		}
	}
	return out
}

func (t *tenant) dumps() []keyed[sgam.SlotDump] {
	var out []keyed[sgam.SlotDump]
	for _, key := range slices.SortedFunc(maps.Keys(t.slots), compareSlots) {
		at := t.slots[key]
		out = append(out, keyed[sgam.SlotDump]{orderOfSlot(key), sgam.SlotDump{
			SlotLog: t.log(key), Segments: slices.Clone(at.segments), Confirmations: slices.Clone(at.confirmations),
			Supersessions: slices.Clone(at.supersessions), Points: slices.Clone(at.points),
		}})
	}
	return out
}
