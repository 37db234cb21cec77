package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// The traits that make a unit worth keeping.
const (
	datesMovedLater = iota
	datesMovedEarlier
	pastCorrected
	futureCorrected
	lateArrivals
	removals
	returns
	replacements
	emptyAnswers
	confirmedAnswers
	traitCount
)

var traitNames = [traitCount]string{
	datesMovedLater:   "dates moved later",
	datesMovedEarlier: "dates moved earlier",
	pastCorrected:     "corrections of the past",
	futureCorrected:   "corrections of the future only",
	lateArrivals:      "late arrivals",
	removals:          "removals",
	returns:           "returns to an earlier value",
	replacements:      "values replaced",
	emptyAnswers:      "questions without a value",
	confirmedAnswers:  "answers with several sources",
}

// profile counts what happens in a unit.
type profile struct {
	unit             unit
	facts, questions int
	traits           [traitCount]int
}

// choose takes the units in always, then lets the traits take turns: each adds the unit that shows it most often, the
// one with fewer facts and then the first by name among equals, as long as limits allow and questions are asked of it.
func choose(units []*profile, limit limits, always []unit) (map[unit]bool, error) {
	kept := make(map[unit]bool)
	facts, questions := 0, 0
	take := func(p *profile) bool {
		if kept[p.unit] || facts+p.facts > limit.facts || questions+p.questions > limit.questions {
			return false
		}
		kept[p.unit] = true
		facts += p.facts
		questions += p.questions
		return true
	}
	for _, u := range always {
		i := slices.IndexFunc(units, func(p *profile) bool { return p.unit == u })
		if i < 0 || !take(units[i]) {
			return nil, fmt.Errorf("%v is missing, named twice or too large", u)
		}
	}
	var turns [traitCount][]*profile
	for t := range turns {
		for _, p := range units {
			if p.traits[t] > 0 && p.questions > 0 && p.facts <= limit.largest {
				turns[t] = append(turns[t], p)
			}
		}
		slices.SortFunc(turns[t], func(a, b *profile) int {
			return cmp.Or(
				cmp.Compare(b.traits[t], a.traits[t]),
				cmp.Compare(a.facts, b.facts),
				strings.Compare(a.unit.String(), b.unit.String()),
			)
		})
	}
	for more := true; more; {
		more = false
		for t := range turns {
			// What does not fit now never will: room only shrinks.
			for taken := false; !taken && len(turns[t]) > 0; turns[t] = turns[t][1:] {
				taken = take(turns[t][0])
				more = more || taken
			}
		}
	}
	return kept, nil
}

// units profiles the history, ordered by first mention.
func (h history) units(perAttribute bool) []*profile {
	var order []*profile
	byUnit := make(map[unit]*profile)
	profileOf := func(slot unit) *profile {
		u := unitOf(slot, perAttribute)
		if byUnit[u] == nil {
			byUnit[u] = &profile{unit: u}
			order = append(order, byUnit[u])
		}
		return byUnit[u]
	}
	slots := make(map[unit]*timeline)
	for _, f := range h.facts {
		s := f.said
		if slots[s.slot()] == nil {
			slots[s.slot()] = &timeline{had: make(map[string]bool)}
		}
		profileOf(s.slot()).addFact(s, slots[s.slot()])
	}
	for _, q := range h.questions {
		p := profileOf(q.said.slot())
		p.questions++
		if string(q.said.Expect) == "null" {
			p.traits[emptyAnswers]++
		}
		if len(q.said.OtherSource) > 0 {
			p.traits[confirmedAnswers]++
		}
	}
	return order
}

func (p *profile) addFact(s statement, slot *timeline) {
	p.facts++
	next := piece{from: s.ValidFrom, to: endOfTime, value: string(s.Value)}
	if s.ValidTo != nil {
		next.to = *s.ValidTo
	}
	before := slot.overwrite(next)
	if next.value == "" {
		if len(before) > 0 {
			p.traits[removals]++
		}
		return
	}
	changed := slices.DeleteFunc(slices.Clone(before), func(b piece) bool { return b.value == next.value })
	if len(before) == 0 && s.Op == "correct" && s.ValidFrom.Before(s.RecordedAt) {
		p.traits[lateArrivals]++
	}
	if len(changed) > 0 {
		p.traits[replacements]++
		if slot.had[next.value] {
			p.traits[returns]++
		}
		switch {
		case s.Op == "assert" && plainDate(next.value) && plainDate(changed[0].value):
			if next.value > changed[0].value {
				p.traits[datesMovedLater]++
			} else {
				p.traits[datesMovedEarlier]++
			}
		case s.Op == "correct" && changed[0].from.Before(s.RecordedAt):
			p.traits[pastCorrected]++
		case s.Op == "correct":
			p.traits[futureCorrected]++
		}
	}
	slot.had[next.value] = true
}

func plainDate(value string) bool {
	_, err := time.Parse(`"`+time.DateOnly+`"`, value)
	return err == nil
}

// endOfTime stands for an open end.
var endOfTime = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

// piece is one value on the half-open interval from..to; the empty value stands for none.
type piece struct {
	from, to time.Time
	value    string
}

// timeline is what a slot held after the statements so far, the newest overriding: enough to see what a statement
// changes. It gives no answers. In a history of assertions each begins when it is recorded, so none reaches past a
// later one.
type timeline struct {
	pieces []piece // ordered, disjoint, none with the empty value
	had    map[string]bool
}

// overwrite puts next on its interval and returns what stood there, cut to that interval.
func (t *timeline) overwrite(next piece) (before []piece) {
	first, _ := slices.BinarySearchFunc(t.pieces, next.from, func(p piece, at time.Time) int {
		if p.to.After(at) {
			return 1
		}
		return -1
	})
	var put []piece
	last := first
	for ; last < len(t.pieces) && t.pieces[last].from.Before(next.to); last++ {
		p := t.pieces[last]
		if p.from.Before(next.from) {
			put = append(put, piece{p.from, next.from, p.value})
		}
		before = append(before, piece{later(p.from, next.from), earlier(p.to, next.to), p.value})
	}
	if next.value != "" {
		put = append(put, next)
	}
	if last > first && t.pieces[last-1].to.After(next.to) {
		put = append(put, piece{next.to, t.pieces[last-1].to, t.pieces[last-1].value})
	}
	t.pieces = slices.Replace(t.pieces, first, last, put...)
	return before
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
