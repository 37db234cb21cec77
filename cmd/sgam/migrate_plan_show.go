package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/sgam-ledger/sgam/migrate"
	"github.com/sgam-ledger/sgam/schema"
)

// showPlan prints what a person needs in order to decide.
func (p *program) showPlan(w words, plan *migrate.Plan) {
	s := w.s
	rows := s.list(append([]column{{name: "TO"}, {name: "RULE"}, {name: "BACKWARD"}, {name: "FORWARD"}}, changeColumns...)...)
	rows.indent = w.indent
	var todo todoList
	lenses := []string{}
	for _, step := range plan.Steps {
		if step.Lens != "" {
			lenses = append(lenses, "into version "+strconv.Itoa(step.Version))
		}
		for _, c := range step.Changes {
			rows.add(append([]string{strconv.Itoa(step.Version), c.Rule, p.verdictWord(c.Backward), p.verdictWord(c.Forward)}, changeCells(c)...)...)
			if c.Rule != "SC03" { // what becomes of removed attributes is decided, and told below
				todo.add(c)
			}
		}
	}
	with := "without a lens"
	if len(lenses) > 0 {
		with = "with the lens " + strings.Join(lenses, ", ")
	}
	s.println(printable(plan.Type), " version ", versions(plan.From, plan.To), ", ", with)
	rows.flush()
	if len(todo) > 0 {
		s.println(w.indent, "what the rules advise:")
		advice := s.list(column{}, column{flex: yields, wrap: true})
		advice.bare, advice.indent = true, w.indent+"  "
		for _, one := range todo {
			advice.add(one[0], printable(one[1]))
		}
		advice.flush()
	}
	s.println("facts, by what becomes of them")
	counts := w.tally([]column{{name: "TENANT", flex: yields}, {name: "ATTRIBUTE", flex: yields, ink: strong}}, predictionColumns...)
	for i := range plan.Tenants {
		for j := range plan.Tenants[i].Attributes {
			at := &plan.Tenants[i].Attributes[j]
			counts.add([]string{printable(plan.Tenants[i].Tenant), printable(at.Attribute)}, predicted(at)...)
		}
	}
	counts.flush()
	w.planDecisions(plan)
}

// predictionColumns name the numbers of a prediction, predicted lists them.
var predictionColumns = []string{"FACTS", "CONVERT", "QUARANTINE", "LOSSY", "FILLED IN", "STAY", "REMOVED", "ERASED"}

func predicted(at *migrate.Prediction) []int64 {
	return []int64{at.Facts, at.Convert, at.Quarantine, at.Lossy, at.Defaulted, at.Recorded + at.Encoded, at.Removed, at.Erased}
}

// deletionSays are the deletion rules in words.
var deletionSays = map[schema.Disposition]string{
	schema.KeepReadable: "keep: its facts stay readable",
	schema.Expire:       "expire: its facts expire when the migration is contracted",
	schema.Erase:        "erase: its facts are erased when the migration is contracted",
}

// planDecisions tells what was decided, who is left out, and what it will cost.
func (w words) planDecisions(plan *migrate.Plan) {
	l := w.details()
	for _, attribute := range slices.Sorted(maps.Keys(plan.Deletions)) {
		l.add("removed", printable(attribute)+", "+deletionSays[plan.Deletions[attribute]])
	}
	if plan.Quarantine == migrate.LeaveQuarantine {
		l.add("quarantine", "is left: after the cut-over such facts have no answer in the new version")
	} else {
		l.add("quarantine", "the cut-over waits until there is none")
	}
	for _, out := range plan.LeftOut {
		l.add("left out", "tenant "+printable(out.Tenant)+": "+printable(out.Why))
	}
	var sum migrate.Estimate
	for i := range plan.Tenants {
		e := &plan.Tenants[i].Estimate
		sum.Rows, sum.Bytes, sum.Seconds = sum.Rows+e.Rows, sum.Bytes+e.Bytes, sum.Seconds+e.Seconds
	}
	took := "less than a millisecond"
	if sum.Seconds > 0 {
		took = fmt.Sprintf("%.3f s", sum.Seconds)
	}
	l.add("estimate", fmt.Sprintf("%s to store, about %s; reading and converting took %s, and a run takes that and its writes",
		count(int(sum.Rows), "encoding", "encodings"), size(sum.Bytes), took))
	l.flush()
}

// size is a number of bytes for people.
func size(n int64) string {
	units := []string{"KiB", "MiB", "GiB", "TiB"}
	if n < 1024 {
		return count(int(n), "byte", "bytes")
	}
	x, unit := float64(n)/1024, 0
	for x >= 1024 && unit < len(units)-1 {
		x, unit = x/1024, unit+1
	}
	return fmt.Sprintf("%.1f %s", x, units[unit])
}
