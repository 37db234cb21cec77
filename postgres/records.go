package postgres

import (
	"context"
	"slices"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/internal/cursor"
)

var (
	stEpisode          = named("episode")
	stOutcomes         = named("outcomes")
	stCandidates       = named("candidates")
	stEpochs           = named("epochs")
	stMigrations       = named("migrations")
	stValuesBelow      = named("values_below")
	stQuarantinedBelow = named("quarantined_below")
)

// episode reads one episode.
func (r *reader) episode() error {
	r.clock()
	r.add(func(p row) error {
		r.page.Episodes = []sgam.Episode{p.from(0).Episode()}
		return nil
	}, stEpisode, r.tenant, r.q.Episode)
	return nil
}

// statuses are those that the query filters by, nil for all.
func (r *reader) statuses() []string {
	var out []string
	for _, s := range r.q.Statuses {
		out = append(out, string(s))
	}
	return out
}

// outcomes lists durable outcomes in the order in which they were decided.
func (r *reader) outcomes() error {
	after, err := cursor.Parse(r.q.After, []int64{0, -1}, 0)
	if err != nil {
		return err
	}
	r.clock()
	r.add(func(p row) error {
		r.page.Outcomes = append(r.page.Outcomes, p.from(0).OutcomeRecord())
		r.full(len(r.page.Outcomes), cursor.At(p.int(0), p.int(1)))
		return nil
	}, stOutcomes, r.tenant, after.Numbers[0], after.Numbers[1], r.limit(), r.statuses())
	return nil
}

// full notes where the next page begins when this one has n rows, the last at the cursor.
func (r *reader) full(n int, at cursor.Cursor) {
	if n == r.limit() {
		r.page.Next = at.String()
	}
}

// candidates lists what was held, settled ones included, in the order in which they were submitted.
func (r *reader) candidates() error {
	after, err := cursor.Parse(r.q.After, []int64{0, -1}, 0)
	if err != nil {
		return err
	}
	r.clock()
	if !r.q.Memory.IsZero() {
		r.add(func(p row) error {
			c := p.candidate()
			if len(r.q.Statuses) == 0 || slices.Contains(r.q.Statuses, c.Status) {
				r.page.Candidates = []sgam.Candidate{c}
			}
			return nil
		}, stCandidatesByID, r.tenant, [][]byte{r.q.Memory[:]})
		return nil
	}
	r.add(func(p row) error {
		r.page.Candidates = append(r.page.Candidates, p.candidate())
		r.full(len(r.page.Candidates), cursor.At(p.int(0), p.int(1)))
		return nil
	}, stCandidates, r.tenant, after.Numbers[0], after.Numbers[1], r.limit(), r.statuses())
	return nil
}

// epochs lists the epochs of every memory type.
func (r *reader) epochs() error {
	r.clock()
	r.add(func(p row) error { r.page.Epochs = append(r.page.Epochs, p.from(0).Epoch()); return nil }, stEpochs, r.tenant)
	return nil
}

// migrations lists the migrations of every memory type.
func (r *reader) migrations() error {
	r.clock()
	r.add(func(p row) error {
		r.page.Migrations = append(r.page.Migrations,
			sgam.MigrationRecord{Type: p.text(0), Serial: p.int(1), State: p.text(2), Body: p.bytes(3)})
		return nil
	}, stMigrations, r.tenant)
	return nil
}

// attributes are those that the query names.
func (r *reader) attributes() []int64 {
	out := []int64{}
	for _, id := range r.q.Attributes {
		out = append(out, int64(id))
	}
	return out
}

// values lists the facts that state a value, from the newest to the oldest. Fact numbers are dense, so a page is a range.
func (r *reader) values(ctx context.Context) error {
	start := r.lastFact + 1
	if r.q.Below != 0 {
		start = min(start, r.q.Below)
	}
	after, err := cursor.Parse(r.q.After, []int64{start}, 0)
	if err != nil {
		return err
	}
	from := max(1, after.Numbers[0]-int64(r.limit()))
	if from > 1 {
		r.page.Next = cursor.At(from).String()
	}
	r.add(r.value, stValuesBelow, r.tenant, after.Numbers[0], from, r.attributes())
	return r.run(ctx)
}

// value takes one encoding of one fact. The encodings of a fact follow one another; the recorded one has no lens.
func (r *reader) value(p row) error {
	number := p.int(0)
	n := len(r.page.Rows)
	if n == 0 || r.page.Rows[n-1].Number != number {
		row := sgam.Row{Number: number, Erased: !p.null(4), Slot: p.slot(5)}
		row.Fact.ID, row.Fact.Op, row.Fact.SchemaVersion = p.memory(1), sgam.Op(p.text(2)), int(p.int(3))
		r.page.Rows = append(r.page.Rows, row)
		n++
	}
	e, err := p.from(9).Form()
	row := &r.page.Rows[n-1]
	if p.null(11) {
		row.Fact.Value = e.Value
	} else {
		row.Encodings = append(row.Encodings, e)
	}
	return err
}

// quarantined lists the facts that have no form in a version, from the newest to the oldest.
func (r *reader) quarantined() error {
	after, err := cursor.Parse(r.q.After, []int64{int64(sgam.Forever)}, 0)
	if err != nil {
		return err
	}
	r.clock()
	r.add(func(p row) error {
		r.page.Quarantined = append(r.page.Quarantined, sgam.Quarantined{
			Fact: p.int(0), Memory: p.memory(1), Slot: p.slot(2), Version: r.q.Version, Rule: p.text(6), Pointer: p.text(7), KnownAt: p.instant(8),
			Believed: p.flag(9),
		})
		r.full(len(r.page.Quarantined), cursor.At(p.int(0)))
		return nil
	}, stQuarantinedBelow, r.tenant, r.q.Version, after.Numbers[0], r.limit(), r.attributes())
	return nil
}
