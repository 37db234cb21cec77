package ledgertest

import (
	"maps"
	"slices"
	"time"

	"github.com/sgam-ledger/sgam"
)

// oracle is the meaning of one subject's attribute, written down a second time and as plainly as can be: valid time is
// an array of cells, and each cell has an owner. There are no intervals, no segments and no planner in it. Cell 0 begins
// with the open start, the last cell has no end.
type oracle struct {
	facts    []cellFact
	slots    map[string]cells // by member; "" is the attribute itself, or its set slot when it has many values
	confirms []confirmation
	past     []snapshot // the whole state after each call
}

// confirmation says that one fact found an equal value of another in a cell.
type confirmation struct{ by, of, cell int }

// cells says which fact holds in each cell, by its index; nobody is none.
type cells [cellCount]int

const (
	cellCount = 24
	nobody    = -1
)

type snapshot struct {
	known time.Time
	slots map[string]cells
}

// cellFact is one accepted statement.
type cellFact struct {
	op       sgam.Op
	member   string
	value    string // canonical JSON, "" for an absence
	from, to int    // the first cell, and the first one after; cellCount is the open end
	sure     float64
	part     bool // carries out the statement about the whole set that stands before it
	gone     bool // withdrawn
	id       sgam.MemoryID
}

// lost is a region of one displaced rectangle.
type lost struct {
	old      int
	from, to int
	how      sgam.How
}

func newOracle() *oracle { return &oracle{slots: map[string]cells{}} }

func (o *oracle) slot(member string) cells {
	if c, ok := o.slots[member]; ok {
		return c
	}
	var empty cells
	for i := range empty {
		empty[i] = nobody
	}
	return empty
}

// value is what is believed in a cell; the bool is false when nothing is.
func (o *oracle) value(c cells, cell int) (string, bool) {
	if c[cell] == nobody {
		return "", false
	}
	return o.facts[c[cell]].value, true
}

// changePoint is the first cell after another in which something is known to have happened in a slot (R3): an owner
// begins there, or a statement that counts asserts from there on what is believed there.
func (o *oracle) changePoint(member string, after int) int {
	c := o.slot(member)
	for cell := after + 1; cell < cellCount; cell++ {
		believed, any := o.value(c, cell)
		if !any {
			continue
		}
		if c[cell] != c[cell-1] {
			return cell
		}
		for _, f := range o.facts {
			if f.member == member && !f.gone && f.from == cell && f.value == believed {
				return cell
			}
		}
	}
	return cellCount
}

// reach is the first cell that a statement does not reach (R3). The change-points of the set are those of each member.
func (o *oracle) reach(f cellFact) int {
	end := f.to
	if f.op == sgam.Assert || f.op == sgam.End {
		end = min(end, o.changePoint(f.member, f.from), o.changePoint("", f.from))
	}
	return end
}

// group is one statement, and for one about a whole set the parts by which it stops each member that holds a value
// within its reach (R14).
func (o *oracle) group(f cellFact) []cellFact {
	group := []cellFact{f}
	if f.member == "" && f.value == "" {
		for _, member := range slices.Sorted(maps.Keys(o.slots)) {
			part := f
			part.member, part.part = member, true
			c := o.slot(member)
			for cell := part.from; member != "" && cell < o.reach(part); cell++ {
				if value, any := o.value(c, cell); any && value != "" {
					group = append(group, part)
					break
				}
			}
		}
	}
	return group
}

// strength is the highest confidence among a fact and its live confirmations (R11): one lives while the fact that it
// confirmed is still believed in its cell.
func (o *oracle) strength(fact int) float64 {
	strongest := o.facts[fact].sure
	for _, c := range o.confirms {
		if c.of == fact && o.slot(o.facts[fact].member)[c.cell] == fact {
			strongest = max(strongest, o.facts[c.by].sure)
		}
	}
	return strongest
}

// stronger lists the facts in the reach of statements that say otherwise and are stronger.
func (o *oracle) stronger(group []cellFact) []int {
	var out []int
	for _, f := range group {
		c := o.slot(f.member)
		for cell := f.from; cell < o.reach(f); cell++ {
			believed, any := o.value(c, cell)
			if any && believed != f.value && o.strength(c[cell]) > f.sure && !slices.Contains(out, c[cell]) {
				out = append(out, c[cell])
			}
		}
	}
	return out
}

// write appends statements that belong together: each reaches as far as what stood before them lets it, and takes every
// cell in its reach that does not hold an equal value already (R4, R5). Those that do not count take none.
func (o *oracle) write(group []cellFact) {
	first := len(o.facts)
	ends := make([]int, len(group))
	for i, f := range group {
		ends[i] = o.reach(f)
	}
	o.facts = append(o.facts, group...)
	for i, f := range group {
		c := o.slot(f.member)
		for cell := f.from; cell < ends[i] && !f.gone; cell++ {
			if believed, any := o.value(c, cell); !any || believed != f.value {
				c[cell] = first + i
				continue
			}
			o.confirms = append(o.confirms, confirmation{first + i, c[cell], cell})
		}
		o.slots[f.member] = c
	}
}

// withdraw takes statements back: everything is said again without them (R8).
func (o *oracle) withdraw(gone ...int) {
	for _, i := range gone {
		o.facts[i].gone = true
	}
	o.replay()
}

// reinstate takes a withdrawal back.
func (o *oracle) reinstate(back ...int) {
	for _, i := range back {
		o.facts[i].gone = false
	}
	o.replay()
}

// replay says everything again that counts. Facts keep their indices: those that do not count take no cell.
func (o *oracle) replay() {
	said := o.facts
	o.facts, o.slots, o.confirms = nil, map[string]cells{}, nil
	for i := 0; i < len(said); {
		group := []cellFact{said[i]}
		for i++; i < len(said) && said[i].part; i++ {
			group = append(group, said[i])
		}
		o.write(group)
	}
}

// remember keeps a copy of the state as what was believed from a known time on.
func (o *oracle) remember(known time.Time) {
	o.past = append(o.past, snapshot{known, maps.Clone(o.slots)})
}

// at is what was believed of a slot at a known time.
func (o *oracle) at(member string, known time.Time) cells {
	then := newOracle()
	for _, s := range o.past {
		if !s.known.After(known) {
			then.slots = s.slots
		}
	}
	return then.slot(member)
}

// displaced is what others lost to a fact between two states, judged by what they hold afterwards (R6), in order.
func displaced(before, after cells, fact int) []lost {
	var out []lost
	for cell := range before {
		old := before[cell]
		if after[cell] != fact || old == nobody || old == fact {
			continue
		}
		if n := len(out); n > 0 && out[n-1].old == old && out[n-1].to == cell {
			out[n-1].to++
			continue
		}
		out = append(out, lost{old: old, from: cell, to: cell + 1})
	}
	for i := range out {
		holds := func(from, to int) bool { return slices.Contains(after[from:to], out[i].old) }
		switch ahead, behind := holds(0, out[i].from), holds(out[i].to, cellCount); {
		case ahead && behind:
			out[i].how = sgam.Split
		case ahead:
			out[i].how = sgam.Ended
		case behind:
			out[i].how = sgam.StartMoved
		default:
			out[i].how = sgam.Replaced
		}
	}
	return out
}

// newest is a second oracle, for histories of correct and void alone: what holds is what the newest statement says that
// covers the cell and was known in time. It returns its index, or nobody.
func newest(facts []cellFact, upTo, cell int) int {
	for i := upTo - 1; i >= 0; i-- {
		if facts[i].from <= cell && cell < facts[i].to {
			return i
		}
	}
	return nobody
}
