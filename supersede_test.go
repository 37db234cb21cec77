package sgam

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

const (
	cellCount = 14
	nobody    = -1
)

// cells is valid time as an array: the planner's rules, written down a second time without an interval in sight.
type cells struct {
	owner [cellCount + 1]int // the fact that holds in each cell; the last cell stands for "and for ever"
	facts []cellFact
}

type cellFact struct {
	op       Op
	from, to int
	value    int64
	out      bool // withdrawn
}

func newCells() *cells {
	c := &cells{}
	for i := range c.owner {
		c.owner[i] = nobody
	}
	return c
}

func (c *cells) value(cell int) int64 {
	if c.owner[cell] == nobody {
		return -1
	}
	return c.facts[c.owner[cell]].value
}

func (c *cells) changePoint(after int) int {
	for cell := after + 1; cell <= cellCount; cell++ {
		if c.owner[cell] != nobody && c.owner[cell] != c.owner[cell-1] {
			return cell
		}
		for _, f := range c.facts {
			if !f.out && f.from == cell && f.value == c.value(cell) {
				return cell
			}
		}
	}
	return cellCount + 1
}

func (c *cells) apply(f cellFact) {
	end := f.to
	if f.op == Assert || f.op == End {
		end = min(end, c.changePoint(f.from))
	}
	me := len(c.facts)
	for cell := f.from; cell < end && cell <= cellCount; cell++ {
		if c.value(cell) != f.value {
			c.owner[cell] = me
		}
	}
	c.facts = append(c.facts, f)
}

// without is the state as if the withdrawn facts had never been made.
func (c *cells) without() *cells {
	fresh := newCells()
	for _, f := range c.facts {
		if f.out {
			fresh.facts = append(fresh.facts, f)
			continue
		}
		fresh.apply(f)
	}
	return fresh
}

func drawFact(t *rapid.T) cellFact {
	f := cellFact{op: rapid.SampledFrom([]Op{Assert, Assert, Assert, Correct, End, Void}).Draw(t, "op")}
	f.from = rapid.IntRange(0, cellCount-1).Draw(t, "from")
	f.to = cellCount + 1
	if f.op == Correct || f.op == Void || rapid.IntRange(0, 3).Draw(t, "bounded") == 0 {
		f.to = rapid.OneOf(rapid.IntRange(f.from+1, cellCount), rapid.Just(cellCount+1)).Draw(t, "to")
	}
	if f.op == Assert || f.op == Correct {
		f.value = int64(rapid.IntRange(1, 3).Draw(t, "value"))
	}
	return f
}

func (f cellFact) span() Span {
	s := Span{Instant(f.from), Instant(f.to)}
	if f.to > cellCount {
		s.To = Forever
	}
	return s
}

func (f cellFact) logged(number int64) LoggedFact {
	return LoggedFact{Number: number, ID: MemoryID{byte(number)}, Op: f.op, Asserted: f.span(), Value: f.value, KnownAt: Instant(number)}
}

func TestPlannerAgreesWithAnArrayOfCells(t *testing.T) { rapid.Check(t, plannerAgainstCells) }

func FuzzPlannerAgainstCells(f *testing.F) {
	// The seed has to be long enough for every draw: a history that runs out of bytes is passed over.
	seed := make([]byte, 1<<14)
	if _, err := rand.NewChaCha8([32]byte{1}).Read(seed); err != nil {
		f.Fatal(err)
	}
	f.Add(seed)
	f.Fuzz(rapid.MakeFuzz(plannerAgainstCells))
}

func plannerAgainstCells(t *rapid.T) {
	model, w := newCells(), emptySlot(SlotKey{Subject: "s"})
	for n := range rapid.IntRange(1, 20).Draw(t, "facts") {
		f := drawFact(t)
		model.apply(f)
		fact := f.logged(int64(n + 1))
		w.plan(proposal{fact, w.reach(f.op, f.span(), nil)})
		sameAsCells(t, model, w)
	}
}

func TestReplayWithoutAFactAgreesWithAnArrayOfCells(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		model, log := newCells(), SlotLog{Slot: SlotKey{Subject: "s"}}
		for n := range rapid.IntRange(2, 16).Draw(t, "facts") {
			f := drawFact(t)
			model.apply(f)
			log.Facts = append(log.Facts, f.logged(int64(n+1)))
		}
		for range rapid.IntRange(1, 4).Draw(t, "withdrawals") {
			target := rapid.IntRange(0, len(model.facts)-1).Draw(t, "target")
			model.facts[target].out = true
			n := int64(len(log.Facts) + 1)
			log.Facts = append(log.Facts, LoggedFact{Number: n, Op: Withdraw, Target: int64(target + 1), KnownAt: Instant(n)})
		}
		sameAsCells(t, model.without(), replay(log))
	})
}

func sameAsCells(t *rapid.T, model *cells, w *workSlot) {
	for i := 1; i < len(w.pieces); i++ {
		require.LessOrEqual(t, w.pieces[i-1].valid.To, w.pieces[i].valid.From, "pieces overlap or are out of order")
	}
	for cell := range cellCount + 1 {
		want, got := "nobody", "nobody"
		if o := model.owner[cell]; o != nobody {
			want = fmt.Sprint(o + 1)
		}
		if p := w.at(Instant(cell)); p != nil {
			require.False(t, p.valid.empty())
			got = fmt.Sprint(p.fact.Number)
		}
		require.Equal(t, want, got, "owner of cell %d", cell)
	}
}

func TestArrivalOrderDoesNotMatterForOpenEndedStatements(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		starts := rapid.SliceOfNDistinct(rapid.IntRange(0, cellCount-1), 2, 8, rapid.ID).Draw(t, "starts")
		facts := make([]cellFact, len(starts))
		for i, from := range starts {
			facts[i] = cellFact{op: Assert, from: from, to: cellCount + 1, value: int64(rapid.IntRange(0, 2).Draw(t, "value"))}
			if facts[i].value == 0 {
				facts[i].op = End
			}
		}
		final := func(order []cellFact) [cellCount]int64 {
			w := emptySlot(SlotKey{})
			for n, f := range order {
				fact := f.logged(int64(n + 1))
				w.plan(proposal{fact, w.reach(f.op, f.span(), nil)})
			}
			var values [cellCount]int64
			for cell := range values {
				values[cell] = -1
				if p := w.at(Instant(cell)); p != nil {
					values[cell] = p.fact.Value
				}
			}
			return values
		}
		sorted := slices.Clone(facts)
		slices.SortFunc(sorted, func(a, b cellFact) int { return a.from - b.from })
		require.Equal(t, final(sorted), final(facts), "in order of valid time, and as they came")
	})
}

func TestFoldingOneCallEqualsFoldingItInSteps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		log := SlotLog{Slot: SlotKey{Subject: "s"}}
		known := Instant(1)
		for n := range rapid.IntRange(2, 16).Draw(t, "facts") {
			f := drawFact(t).logged(int64(n + 1))
			f.Slot = log.Slot
			if rapid.Bool().Draw(t, "next call") {
				known++
			}
			f.KnownAt = known
			log.Facts = append(log.Facts, f)
		}
		dump := rebuild(log)
		var found []string
		dump.checkRectangles(func(layer, format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) })
		require.Empty(t, found)
		w := replay(log)
		open := 0
		for _, s := range dump.Segments {
			if s.Known.To != Forever {
				continue
			}
			open++
			p := w.at(s.Valid.From)
			require.NotNil(t, p)
			require.Equal(t, s.Valid, p.valid)
			require.Equal(t, s.Fact, p.fact.Number)
		}
		require.Len(t, w.pieces, open)
	})
}
