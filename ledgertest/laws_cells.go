package ledgertest

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/sgam-ledger/sgam"
)

// cellRun plays one random history of one attribute on a ledger and on the oracle.
type cellRun struct {
	*bench
	seed   uint64
	rnd    *rand.Rand
	tenant *sgam.Tenant
	oracle *oracle
	about  Attribute
	names  map[sgam.MemoryID]int
	calls  []time.Time
	undone []undone
	script []string
}

// undone is one withdrawal that still counts.
type undone struct {
	id    sgam.MemoryID
	facts []int
}

func newCellRun(b *bench, l *sgam.Ledger, seed uint64, about Attribute) *cellRun {
	return &cellRun{
		bench: b, seed: seed, rnd: random(seed, 1), tenant: b.tenant(l, fmt.Sprint("t", seed)), oracle: newOracle(), about: about,
		names: map[sgam.MemoryID]int{},
	}
}

// cellStart is the instant at which a cell begins; that of cell 0 is the open start.
func cellStart(cell int) time.Time {
	if cell == 0 {
		return time.Time{}
	}
	return time.Date(2026, 3, cell, 0, 0, 0, 0, time.UTC)
}

func cellInterval(from, to int) string {
	i := sgam.Interval{From: cellStart(from)}
	if to < cellCount {
		end := cellStart(to)
		i.To = &end
	}
	return textOfInterval(i)
}

func (r *cellRun) play() {
	for range 25 {
		r.clock.Advance(time.Duration(r.rnd.IntN(3)) * time.Hour)
		switch n := r.rnd.IntN(10); {
		case n == 0 && len(r.oracle.facts) > 0:
			r.takeBack()
		case n == 1 && len(r.undone) > 0:
			r.reinstate()
		case n <= 3:
			r.call(2 + r.rnd.IntN(3))
		default:
			r.call(1)
		}
		if r.Failed() {
			break
		}
	}
	for _, known := range r.calls {
		r.compare(known)
	}
	for err := range r.tenant.Verify(r.Context()) {
		r.Errorf("%v", err)
	}
	if r.Failed() {
		for _, line := range r.script {
			r.Log(line)
		}
		r.Fatalf("seed %d", r.seed)
	}
}

// statement makes up one statement.
func (r *cellRun) statement() cellFact {
	f := cellFact{from: r.rnd.IntN(cellCount - 1), to: cellCount, sure: float64(r.rnd.IntN(4)) / 4}
	if r.rnd.IntN(2) == 0 {
		f.to = f.from + 1 + r.rnd.IntN(cellCount-f.from)
	}
	value := strconv.Itoa(r.rnd.IntN(3))
	switch n := r.rnd.IntN(10); {
	case n < 5:
		f.op, f.value = sgam.Assert, value
	case n < 7:
		f.op, f.value = sgam.Correct, value
	case n < 9:
		f.op = sgam.End
	default:
		f.op = sgam.Void
	}
	if r.about.Many && (f.value != "" || r.rnd.IntN(3) > 0) {
		f.member = value
	}
	return f
}

// call submits some statements together.
func (r *cellRun) call(n int) {
	r.Helper()
	var b sgam.Batch
	before := cloneSlots(r.oracle.slots)
	firsts, lostTo := make([]int, n), make([][]int, n)
	for i := range n {
		f := r.statement()
		from := cellStart(f.from)
		d := say(f.op, "s", r.about.Name, f.value, from, fmt.Sprintf("e%d-%d", len(r.calls), i))
		d.Confidence = &f.sure
		if f.member != "" {
			d.Value = json.RawMessage(f.member)
		}
		if f.to < cellCount {
			d = d.Until(cellStart(f.to))
		}
		b.Deltas = append(b.Deltas, d)
		group := r.oracle.group(f)
		firsts[i] = len(r.oracle.facts)
		if r.about.Policy == sgam.KeepHighestConfidence {
			lostTo[i] = r.oracle.stronger(group)
		}
		if lostTo[i] == nil {
			r.oracle.write(group)
		}
		r.script = append(r.script, fmt.Sprintf("call %d: fact %d %s member %q %s", len(r.calls), firsts[i], f.op, f.member, cellInterval(f.from, f.to)))
	}
	receipts, err := r.tenant.ApplyBatch(r.Context(), b)
	r.ok(err)
	for i, x := range receipts {
		if lostTo[i] != nil {
			r.disputed(x, lostTo[i])
			continue
		}
		next := len(r.oracle.facts)
		if i+1 < n {
			next = firsts[i+1]
		}
		if len(x.Parts) != next-firsts[i]-1 {
			r.Fatalf("fact %d: want %d parts, got %d (%s %s)", firsts[i], next-firsts[i]-1, len(x.Parts), x.Outcome, x.Code)
		}
		r.name(firsts[i], x.Memory)
	}
	for i, x := range receipts {
		r.nameParts(firsts[i]+1, x.Parts, b.Deltas[i])
	}
	r.done(receipts[0].Known)
	if n == 1 && lostTo[0] == nil {
		r.receipt(before, firsts[0], receipts[0])
	}
}

// disputed checks what a statement has lost to. Parts of the same call have no names yet, and are passed over.
func (r *cellRun) disputed(x sgam.Receipt, lostTo []int) {
	r.Helper()
	if x.Outcome != sgam.Disputed {
		r.Fatalf("want disputed by %v, got %s", lostTo, x.Outcome)
	}
	var want, got []string
	for _, fact := range lostTo {
		if !r.oracle.facts[fact].part || r.oracle.facts[fact].id != (sgam.MemoryID{}) {
			want = append(want, strconv.Itoa(fact))
		}
	}
	for _, id := range x.LostTo {
		if fact, named := r.names[id]; named {
			got = append(got, strconv.Itoa(fact))
		}
	}
	r.same("what it lost to", joined(want), joined(got))
}

func cloneSlots(slots map[string]cells) map[string]cells {
	out := map[string]cells{}
	for member, c := range slots {
		out[member] = c
	}
	return out
}

func (r *cellRun) name(fact int, id sgam.MemoryID) {
	r.oracle.facts[fact].id = id
	r.names[id] = fact
}

// nameParts finds out which member each part is about: engines list them in an order of their own.
func (r *cellRun) nameParts(first int, parts []sgam.MemoryID, of sgam.MemoryDelta) {
	for _, id := range parts {
		found := false
		for i := first; i < first+len(parts); i++ {
			slot := sgam.Slot{Subject: of.Subject, Attribute: of.Attribute, Member: json.RawMessage(r.oracle.facts[i].member)}
			for e, err := range r.tenant.History(r.Context(), slot) {
				r.ok(err)
				if e.Fact.ID == id {
					r.name(i, id)
					found = true
				}
			}
		}
		if !found {
			r.Fatalf("part %s of fact %d is in no member's history", id, first-1)
		}
	}
}

func (r *cellRun) done(known time.Time) {
	r.oracle.remember(known)
	r.calls = append(r.calls, known)
	r.compare(known)
}

// receipt compares what a single statement's receipt says with what happened to the cells.
func (r *cellRun) receipt(before map[string]cells, fact int, x sgam.Receipt) {
	f := r.oracle.facts[fact]
	then := &oracle{facts: r.oracle.facts[:fact], slots: before}
	want := sgam.Confirmed
	var displacedBy, confirms []string
	for i := fact; i < len(r.oracle.facts); i++ {
		part := r.oracle.facts[i]
		was, is := then.slot(part.member), r.oracle.slot(part.member)
		for _, l := range displaced(was, is, i) {
			displacedBy = append(displacedBy, fmt.Sprintf("%d %s %s", l.old, l.how, cellInterval(l.from, l.to)))
		}
		for cell := part.from; cell < then.reach(part); cell++ {
			if is[cell] == i {
				want = sgam.Applied
			} else {
				confirms = append(confirms, strconv.Itoa(is[cell]))
			}
		}
	}
	slices.Sort(confirms)
	confirms = slices.Compact(confirms)
	supersedes := nobody
	for _, l := range displaced(then.slot(f.member), r.oracle.slot(f.member), fact) {
		if supersedes == nobody || l.from == f.from {
			supersedes = l.old
		}
	}
	var gotDisplaced, gotConfirms []string
	for _, d := range x.Displaced {
		gotDisplaced = append(gotDisplaced, fmt.Sprintf("%d %s %s", r.names[d.Memory], d.How, textOfInterval(d.Valid)))
	}
	for _, id := range x.Confirms {
		gotConfirms = append(gotConfirms, strconv.Itoa(r.names[id]))
	}
	what := fmt.Sprintf("receipt of fact %d", fact)
	r.same(what+", outcome", string(want), string(x.Outcome))
	r.same(what+", reach", cellInterval(f.from, then.reach(f)), textOfInterval(*x.Reach))
	r.same(what+", displaced", joined(displacedBy), joined(gotDisplaced))
	r.same(what+", confirms", joined(confirms), joined(gotConfirms))
	superseded := nobody
	if !x.Supersedes.IsZero() {
		superseded = r.names[x.Supersedes]
	}
	r.same(what+", supersedes", strconv.Itoa(supersedes), strconv.Itoa(superseded))
}

// takeBack withdraws a statement that counts, with the parts that carry it out.
func (r *cellRun) takeBack() {
	fact := r.rnd.IntN(len(r.oracle.facts))
	if r.oracle.facts[fact].gone {
		return
	}
	gone := []int{fact}
	for i := fact + 1; !r.oracle.facts[fact].part && i < len(r.oracle.facts) && r.oracle.facts[i].part; i++ {
		if !r.oracle.facts[i].gone {
			gone = append(gone, i)
		}
	}
	r.script = append(r.script, fmt.Sprintf("call %d: withdraw %v", len(r.calls), gone))
	r.oracle.withdraw(gone...)
	x, err := r.tenant.Withdraw(r.Context(), sgam.Withdrawal{Memory: r.oracle.facts[fact].id})
	r.ok(err)
	if x.Outcome != sgam.Applied || len(x.Withdrawn) != len(gone) {
		r.Fatalf("want %d facts withdrawn, got %s of %d", len(gone), x.Outcome, len(x.Withdrawn))
	}
	r.undone = append(r.undone, undone{x.Memory, gone})
	r.done(x.Known)
}

// reinstate withdraws a withdrawal.
func (r *cellRun) reinstate() {
	i := r.rnd.IntN(len(r.undone))
	u := r.undone[i]
	r.undone = slices.Delete(r.undone, i, i+1)
	r.script = append(r.script, fmt.Sprintf("call %d: reinstate %v", len(r.calls), u.facts))
	r.oracle.reinstate(u.facts...)
	x, err := r.tenant.Withdraw(r.Context(), sgam.Withdrawal{Memory: u.id})
	r.ok(err)
	if x.Outcome != sgam.Applied {
		r.Fatalf("want the withdrawal withdrawn, got %s", x.Outcome)
	}
	r.done(x.Known)
}

// compare asks about every cell of every slot as it was known at one time.
func (r *cellRun) compare(known time.Time) {
	r.Helper()
	members := []string{""}
	if r.about.Many {
		members = append(members, "0", "1", "2")
	}
	for _, member := range members {
		c := r.oracle.at(member, known)
		for cell := range cellCount {
			at := cellStart(cell).Add(time.Hour)
			if got, want := r.read(member, at, known), r.want(c, cell, member, known); got != want {
				r.Errorf("member %q in cell %d as known at %s (call %d):\n  want %s\n  got  %s", member, cell, textOf(known),
					slices.Index(r.calls, known), want, got)
				return
			}
		}
	}
}

// read is the ledger's answer, with the fact's index in the oracle for its id.
func (r *cellRun) read(member string, valid, known time.Time) string {
	slot := sgam.Slot{Subject: "s", Attribute: r.about.Name}
	if member != "" {
		slot.Member = json.RawMessage(member)
	}
	f, err := r.tenant.ValidAt(valid).KnownAt(known).Member(r.Context(), slot)
	if none, ok := errors.AsType[*sgam.NoValueError](err); ok {
		if none.By == nil {
			return textOfReason(none.Reason)
		}
		return fmt.Sprintf("%s by %d over %s", textOfReason(none.Reason), r.names[none.By.ID], textOfInterval(none.By.Valid))
	}
	r.ok(err)
	return fmt.Sprintf("%s by %d over %s", f.Value, r.names[f.ID], textOfInterval(f.Valid))
}

// want is the oracle's answer. When nothing is known of a member, the set answers.
func (r *cellRun) want(c cells, cell int, member string, known time.Time) string {
	if c[cell] == nobody && member != "" {
		return r.want(r.oracle.at("", known), cell, "", known)
	}
	if c[cell] == nobody {
		return "unknown"
	}
	from, to := cell, cell+1
	for from > 0 && c[from-1] == c[cell] {
		from--
	}
	for to < cellCount && c[to] == c[cell] {
		to++
	}
	value := r.oracle.facts[c[cell]].value
	if value == "" {
		value = "absent"
	}
	return fmt.Sprintf("%s by %d over %s", value, c[cell], cellInterval(from, to))
}
