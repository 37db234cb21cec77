package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestAKeptUnitKeepsEveryFactAndQuestion(t *testing.T) {
	t.Parallel()
	full := parse(t,
		[]string{
			fact("10:00", "correct", "a", "x", `1.0`, "2020-01-01", "2021-01-01"),
			fact("10:00", "correct", "b", "x", `1`, "2020-01-01", "2021-01-01"),
			fact("11:00", "correct", "a", "y", `true`, "2020-01-01", "2021-01-01"),
			fact("12:00", "correct", "a", "x", `1.50`, "2020-03-01", "2020-04-01"),
		},
		[]string{ask("a", "x", `1.50`), ask("b", "x", `1`), ask("a", "y", `true`)})

	whole := full.only(map[unit]bool{{subject: "a"}: true}, false)
	equal(t, positions(full.facts, whole.facts), []int{0, 2, 3})
	equal(t, positions(full.questions, whole.questions), []int{0, 2})

	part := full.only(map[unit]bool{{subject: "a", attribute: "x"}: true}, true)
	equal(t, positions(full.facts, part.facts), []int{0, 3})
	equal(t, positions(full.questions, part.questions), []int{0})
	if text := string(join(part.facts)); !strings.Contains(text, `"value":1.50,`) {
		t.Errorf("a number is spelt differently: %s", text)
	}
}

func TestTraitsAreCountedByWhatAStatementChanges(t *testing.T) {
	t.Parallel()
	const future, past = "2031-01-01", "2001-01-01"
	first := fact("10:00", "correct", "a", "x", `1`, past, "2040-01-01")
	plan := fact("10:00", "assert", "a", "x", `"2025-06-01"`, "2020-01-01", "")
	for name, c := range map[string]struct {
		facts []string
		want  []int
	}{
		"a value for a gap in the past":       {[]string{first}, []int{lateArrivals}},
		"the past said again":                 {[]string{first, fact("11:00", "correct", "a", "x", `1`, past, "2002-01-01")}, []int{lateArrivals}},
		"the past corrected":                  {[]string{first, fact("11:00", "correct", "a", "x", `2`, past, "2002-01-01")}, []int{lateArrivals, pastCorrected, replacements}},
		"the future corrected":                {[]string{first, fact("11:00", "correct", "a", "x", `2`, future, "")}, []int{lateArrivals, futureCorrected, replacements}},
		"a removal":                           {[]string{first, fact("11:00", "void", "a", "x", ``, past, "2002-01-01")}, []int{lateArrivals, removals}},
		"a removal where nothing stood":       {[]string{fact("11:00", "void", "a", "x", ``, past, "2002-01-01")}, nil},
		"a deadline moved later":              {[]string{plan, fact("11:00", "assert", "a", "x", `"2026-06-01"`, "2020-02-01", "")}, []int{datesMovedLater, replacements}},
		"a deadline moved earlier":            {[]string{plan, fact("11:00", "assert", "a", "x", `"2024-06-01"`, "2020-02-01", "")}, []int{datesMovedEarlier, replacements}},
		"a text replaced is no deadline":      {[]string{plan, fact("11:00", "assert", "a", "x", `"soon"`, "2020-02-01", "")}, []int{replacements}},
		"the neighbour of an interval stands": {[]string{first, fact("11:00", "correct", "a", "x", `2`, "2040-01-01", "")}, []int{lateArrivals}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			units := parse(t, c.facts, nil).units(false)
			equal(t, len(units), 1)
			var want [traitCount]int
			for _, trait := range c.want {
				want[trait] = 1
			}
			equal(t, units[0].traits, want)
		})
	}
}

func TestAValueThatComesBackIsSeen(t *testing.T) {
	t.Parallel()
	units := parse(t, []string{
		fact("10:00", "assert", "a", "x", `"red"`, "2020-01-01", ""),
		fact("11:00", "assert", "a", "x", `"blue"`, "2020-01-02", ""),
		fact("12:00", "assert", "a", "x", `"red"`, "2020-01-03", ""),
	}, []string{ask("a", "x", "null"), ask("a", "x", `"red"`)}).units(false)
	equal(t, len(units), 1)
	equal(t, units[0].traits[returns], 1)
	equal(t, units[0].traits[replacements], 2)
	equal(t, units[0].traits[emptyAnswers], 1)
	equal(t, units[0].questions, 2)
}

func TestTheChoiceTakesTurnsAndStaysWithinItsLimits(t *testing.T) {
	t.Parallel()
	shows := func(name string, facts, moved, removed int) *profile {
		p := &profile{unit: unit{subject: name}, facts: facts, questions: 1}
		p.traits[datesMovedLater], p.traits[removals] = moved, removed
		return p
	}
	units := []*profile{
		shows("most-moved", 4, 9, 0),
		shows("moved", 4, 5, 0),
		shows("removed", 4, 0, 1),
		shows("huge", 40, 99, 99),
		shows("plain", 1, 0, 0),
	}
	kept, err := choose(units, limits{facts: 9, questions: 9, largest: 10}, nil)
	must(t, err)
	equal(t, kept, map[unit]bool{{subject: "most-moved"}: true, {subject: "removed"}: true})

	kept, err = choose(units, limits{facts: 9, questions: 9, largest: 10}, []unit{{subject: "plain"}})
	must(t, err)
	equal(t, kept, map[unit]bool{{subject: "plain"}: true, {subject: "most-moved"}: true, {subject: "removed"}: true})

	kept, err = choose(units, limits{facts: 99, questions: 2, largest: 10}, nil)
	must(t, err)
	equal(t, len(kept), 2)
	kept, err = choose(units, limits{facts: 99, questions: 9, largest: 10}, nil)
	must(t, err)
	equal(t, kept, map[unit]bool{{subject: "most-moved"}: true, {subject: "moved"}: true, {subject: "removed"}: true})

	_, err = choose(units, limits{facts: 9, questions: 9, largest: 10}, []unit{{subject: "absent"}})
	if err == nil || !strings.Contains(err.Error(), "absent") {
		t.Errorf("a unit that is not there gives %v", err)
	}
}

func TestEqualTextsGiveEqualFiles(t *testing.T) {
	t.Parallel()
	h := parse(t, []string{fact("10:00", "correct", "a", "x", `1`, "2020-01-01", "")}, []string{ask("a", "x", "1")})
	one, two := t.TempDir(), t.TempDir()
	must(t, writeHistory(one, h))
	must(t, writeHistory(two, h))
	wants := map[string][]byte{"facts.jsonl.gz": join(h.facts), "questions.jsonl.gz": join(h.questions)}
	for name, want := range wants {
		a, err := os.ReadFile(filepath.Join(one, name))
		must(t, err)
		b, err := os.ReadFile(filepath.Join(two, name))
		must(t, err)
		equal(t, a, b)
		z, err := gzip.NewReader(bytes.NewReader(a))
		must(t, err)
		equal(t, z.ModTime.IsZero(), true)
		text, err := io.ReadAll(z)
		must(t, err)
		equal(t, string(text), string(want))
	}
}

func TestAHistoryThatIsNotThereIsAnError(t *testing.T) {
	t.Parallel()
	err := run(io.Discard, t.TempDir(), t.TempDir(), "")
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func equal[T any](t *testing.T, got, want T) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("got %v, want %v", got, want)
	}
}

func fact(clock, op, subject, attribute, value, from, to string) string {
	if value != "" {
		value = `"value":` + value + `,`
	}
	end := "null"
	if to != "" {
		end = `"` + to + `T00:00:00Z"`
	}
	return `{"recorded_at":"2020-01-01T` + clock + `:00Z","op":"` + op + `","subject":"` + subject + `","attribute":"` + attribute +
		`",` + value + `"valid_from":"` + from + `T00:00:00Z","valid_to":` + end + `}`
}

func ask(subject, attribute, expect string) string {
	return `{"subject":"` + subject + `","attribute":"` + attribute + `","expect":` + expect + `}`
}

func parse(t *testing.T, facts, questions []string) history {
	t.Helper()
	var h history
	for _, raw := range facts {
		l := line[statement]{raw: []byte(raw)}
		must(t, json.Unmarshal(l.raw, &l.said))
		h.facts = append(h.facts, l)
	}
	for _, raw := range questions {
		l := line[question]{raw: []byte(raw)}
		must(t, json.Unmarshal(l.raw, &l.said))
		h.questions = append(h.questions, l)
	}
	return h
}

// positions tells which lines of full the lines of part are.
func positions[T any](full, part []line[T]) (at []int) {
	for _, p := range part {
		for i, f := range full {
			if bytes.Equal(f.raw, p.raw) {
				at = append(at, i)
			}
		}
	}
	return at
}
