//go:build cgo && unix

package crashtest

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
)

// held is the state of one slot in the model: the fact that holds.
type held struct {
	memory sgam.MemoryID // zero when nothing was said
	absent bool          // it says that there is no value
}

// register is the model of one slot: a register that is written, compared and read, each write of which says what it
// displaced.
var register = porcupine.Model{
	Init:      func() any { return held{} },
	Partition: bySubject,
	Step: func(state, input, output any) (bool, any) {
		now, did, got := must[held](state), must[operation](input), must[answer](output)
		next := held{got.Memory, got.Absent}
		switch {
		case did.Verb == readVerb:
			return now == next, now
		case did.Verb == guardVerb && got.Outcome == sgam.Rejected:
			return !now.meets(did.Expected), now
		case did.Verb == guardVerb && !now.meets(did.Expected):
			return false, now
		case did.Verb == endVerb && got.Outcome == sgam.Confirmed:
			return now.absent, now // it says the same as the fact that holds, which stays
		}
		return got.Outcome == sgam.Applied && got.Supersedes == now.memory, next
	},
	DescribeOperation: func(input, output any) string {
		did := must[operation](input)
		return fmt.Sprintf("%s %s (expecting %s) -> %+v", did.Verb, did.Subject, did.Expected, output)
	},
}

// must is what porcupine was given as what it is.
func must[T any](given any) T {
	value, ok := given.(T)
	if !ok {
		panic(fmt.Sprintf("the model was given a %T", given))
	}
	return value
}

// meets reports whether a guard lets a statement pass.
func (h held) meets(expected sgam.MemoryID) bool {
	if expected.IsZero() {
		return h.absent || h.memory.IsZero()
	}
	return h.memory == expected
}

func bySubject(history []porcupine.Operation) [][]porcupine.Operation {
	at := map[string]int{}
	var parts [][]porcupine.Operation
	for _, o := range history {
		subject := must[operation](o.Input).Subject
		if _, known := at[subject]; !known {
			at[subject] = len(parts)
			parts = append(parts, nil)
		}
		parts[at[subject]] = append(parts[at[subject]], o)
	}
	return parts
}

// history is a list of operations in porcupine's form.
func history(did []operation) []porcupine.Operation {
	clients := map[string]int{}
	out := make([]porcupine.Operation, len(did))
	for i, o := range did {
		if _, known := clients[o.Client]; !known {
			clients[o.Client] = len(clients)
		}
		out[i] = porcupine.Operation{ClientId: clients[o.Client], Input: o, Output: o.answer, Call: o.Call, Return: o.Return}
	}
	return out
}

// TestOneSlotIsLinearizable lets goroutines of several processes read and write a few slots at once. Each slot must look
// as if every operation had happened at one instant between its call and its return.
func TestOneSlotIsLinearizable(t *testing.T) {
	const processes, goroutines, operations = 3, 4, 5 // 60 operations a history
	path := filepath.Join(t.TempDir(), "a.db")
	clients := make([]*process, processes)
	for i := range clients {
		clients[i] = start(t, "client", serving{Path: path, Name: fmt.Sprintf("process %d", i), Goroutines: goroutines})
		clients[i].ready()
	}
	for _, c := range clients {
		c.tell("go")
	}
	verbs, overlaps := map[string]int{}, 0
	for number := range few(3, 30) {
		subjects := []string{fmt.Sprintf("a %d", number), fmt.Sprintf("b %d", number)}
		for i, c := range clients {
			c.tell(round{Number: number, Seed: uint64(number*processes + i), Operations: operations, Subjects: subjects})
		}
		var did []operation
		for _, c := range clients {
			var of [][]operation
			c.expect(&of)
			for _, one := range of {
				did = append(did, one...)
			}
		}
		require.Len(t, did, processes*goroutines*operations)
		for _, o := range did {
			verbs[fmt.Sprintf("%s %s", o.Verb, o.Outcome)]++
			overlaps += overlapping(o, did)
		}
		verdict := porcupine.CheckOperationsTimeout(register, history(did), 20*time.Second)
		require.Equal(t, porcupine.Ok, verdict, "history %d: %+v", number, did)
	}
	for _, c := range clients {
		c.end()
	}
	t.Logf("%v, %d pairs at once", verbs, overlaps)
	require.NotZero(t, overlaps, "nothing happened at once, so nothing was shown")
	l, acme := openTest(t, path)
	for number := range few(3, 30) {
		historyOf(t, acme, fmt.Sprintf("a %d", number))
		historyOf(t, acme, fmt.Sprintf("b %d", number))
	}
	prove(t, l, path)
	require.NoError(t, l.Close())
}

// overlapping counts the operations about the same subject that began later than this one and before it ended.
func overlapping(o operation, all []operation) (n int) {
	for _, other := range all {
		if other.Subject == o.Subject && o.Call < other.Call && other.Call < o.Return {
			n++
		}
	}
	return n
}

// TestHistoriesThatAreNotLinearizableAreFound is the control of the model.
func TestHistoriesThatAreNotLinearizableAreFound(t *testing.T) {
	m1, m2, m3 := sgam.MemoryID{1}, sgam.MemoryID{2}, sgam.MemoryID{3}
	at := func(client string, call, ret int64, v verb, expected sgam.MemoryID, a answer) operation {
		return operation{Client: client, Verb: v, Subject: "a", Expected: expected, Call: call, Return: ret, answer: a}
	}
	none := sgam.MemoryID{}
	wrote := func(m, before sgam.MemoryID) answer {
		return answer{Outcome: sgam.Applied, Memory: m, Supersedes: before}
	}
	first := at("x", 0, 1, writeVerb, none, wrote(m1, none))
	for name, did := range map[string][]operation{
		"a stale read":              {first, at("y", 2, 3, writeVerb, none, wrote(m2, m1)), at("x", 4, 5, readVerb, none, answer{Memory: m1})},
		"a read from nowhere":       {first, at("y", 2, 3, readVerb, none, answer{Memory: m3})},
		"a fork":                    {first, at("x", 2, 9, writeVerb, none, wrote(m2, m1)), at("y", 2, 9, writeVerb, none, wrote(m3, m1))},
		"a guard that passed":       {first, at("y", 2, 3, guardVerb, none, wrote(m2, m1))},
		"a guard that did not pass": {first, at("y", 2, 3, guardVerb, m1, answer{Outcome: sgam.Rejected})},
	} {
		assert.Equal(t, porcupine.Illegal, porcupine.CheckOperationsTimeout(register, history(did), 0), name)
	}
	good := []operation{
		first, at("x", 2, 9, writeVerb, none, wrote(m2, m1)), at("y", 2, 9, writeVerb, none, wrote(m3, m2)),
		at("z", 3, 8, readVerb, none, answer{Memory: m2}), at("z", 10, 11, guardVerb, m2, answer{Outcome: sgam.Rejected}),
		at("z", 12, 13, endVerb, none, answer{Outcome: sgam.Applied, Memory: sgam.MemoryID{4}, Absent: true, Supersedes: m3}),
	}
	assert.Equal(t, porcupine.Ok, porcupine.CheckOperationsTimeout(register, history(good), 0))
}
