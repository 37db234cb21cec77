package main

import (
	"strings"

	"github.com/sgam-ledger/sgam"
)

// outcomeInk is how an outcome stands out.
func outcomeInk(o sgam.Outcome) ink {
	switch o {
	case sgam.Applied, sgam.Confirmed:
		return good
	case sgam.Pending, sgam.Disputed:
		return odd
	case sgam.Rejected:
		return bad
	default:
		return quiet
	}
}

// receipt prints what became of one thing on one line.
func (w words) receipt(what string, r *sgam.Receipt) {
	w.s.println(what, ": ", w.s.paint(outcomeInk(r.Outcome), string(r.Outcome)), after(", ", w.receiptSays(r)))
}

// after puts a separator before what is not empty.
func after(separator, s string) string {
	if s == "" {
		return ""
	}
	return separator + s
}

// receiptSays tells what a receipt holds besides its outcome, without values.
func (w words) receiptSays(r *sgam.Receipt) string {
	var says []string
	add := func(s string) { says = append(says, s) }
	if r.Earlier != "" {
		add("was " + string(r.Earlier))
	}
	for _, d := range r.Displaced {
		add(hows[d.How] + " " + short(d.Memory) + " " + w.during(d.Valid))
	}
	for _, id := range r.Confirms {
		add("confirms " + short(id))
	}
	if len(r.Parts) > 0 {
		add("stopped " + count(len(r.Parts), "member", "members"))
	}
	if r.Clipped != nil {
		add("cut off " + w.during(*r.Clipped))
	}
	if r.Assumed {
		add("valid from the episode's time")
	}
	for _, id := range r.LostTo {
		add("lost to " + short(id))
	}
	for i := range r.Faults {
		add(faultText(&r.Faults[i]))
	}
	if r.Code != "" && len(r.Faults) == 0 {
		add(r.Code)
	}
	return strings.Join(says, ", ")
}
