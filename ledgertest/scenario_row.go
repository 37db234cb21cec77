package ledgertest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sgam-ledger/sgam"
)

// row is one answer of the ledger, or what a scenario expects of it: a text for each clause, in one form only, so that
// two rows can be compared clause by clause. An expectation names what it cares about and leaves out the rest.
type row map[string]string

// has reports whether a row has every clause of another.
func (r row) has(want row) bool {
	for clause, text := range want {
		if r[clause] != text {
			return false
		}
	}
	return true
}

// text writes the clauses of a row that an expectation names, in the order in which a scenario writes them: those that
// the place in the line tells, which are always shown, and then those with keywords.
func (r row) text(kind []string, want row) string {
	var parts []string
	for _, clause := range kind {
		if text, ok := r[clause]; ok && clause == "after" {
			parts = append(parts, "-> "+text)
		} else if ok {
			parts = append(parts, text)
		}
	}
	for _, clause := range slices.Sorted(maps.Keys(want)) {
		if text, ok := r[clause]; ok && !slices.Contains(kind, clause) {
			parts = append(parts, strings.TrimSpace(clause+" "+text))
		}
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, " ")
}

// reasons are the answers that are no values.
var reasons = map[string]error{
	"unknown": sgam.ErrUnknown, "absent": sgam.ErrAbsent, "expired": sgam.ErrExpired, "erased": sgam.ErrErased,
}

// answer takes a value, a reason why there is none, or an error.
func (c *cursor) answer() (string, error) {
	word := c.peek()
	if word == "error" {
		text := strings.Join(strings.Fields(c.text), " ")
		c.text = ""
		return text, nil
	}
	if _, ok := reasons[word]; ok {
		return c.word(), nil
	}
	raw, err := c.value()
	if err != nil {
		return "", fmt.Errorf("want a JSON value, unknown, absent, expired, erased or error at %q", c.text)
	}
	return textOfValue(raw), nil
}

// clauseText reads what follows the keyword of a clause.
var clauseText = map[string]func(*cursor) (string, error){
	"from": (*cursor).name, "in": (*cursor).name, "principal": (*cursor).name, "retention": (*cursor).name,
	"by": (*cursor).name, "supersedes": (*cursor).name, "closed": (*cursor).name, "cause": (*cursor).name, "withdraws": (*cursor).name,
	"attribute": (*cursor).name,
	"over":      (*cursor).interval, "asserted": (*cursor).interval, "known": (*cursor).interval, "reach": (*cursor).interval,
	"clipped": nothingOr((*cursor).interval), "confidence": nothingOr(takeValue), "because": takeValue, "member": takeValue, "evidence": takeValue,
	"confirms": labels, "lost": labels, "withdrawn": labels, "declines": labels, "disputes": labels,
	"displaces": nothingOr(displacement), "recorded": instant, "valid": instant, "parts": takeWord, "at": takeWord, "of": takeWord,
	"ordinal": takeWord, "version": takeWord, "assumed": flag,
}

func takeWord(c *cursor) (string, error) {
	if c.done() {
		return "", errors.New("the line ends where a word is wanted")
	}
	return c.word(), nil
}

func takeValue(c *cursor) (string, error) {
	raw, err := c.value()
	if err != nil {
		return "", err
	}
	return textOfValue(raw), nil
}

func flag(*cursor) (string, error) { return "yes", nil }

func instant(c *cursor) (string, error) {
	t, err := c.time()
	return textOf(t), err
}

func labels(c *cursor) (string, error) {
	names, err := c.list()
	return joined(names), err
}

// nothingOr allows the word nothing for a clause that must be empty.
func nothingOr(read func(*cursor) (string, error)) func(*cursor) (string, error) {
	return func(c *cursor) (string, error) {
		if c.take("nothing") {
			return "nothing", nil
		}
		return read(c)
	}
}

func displacement(c *cursor) (string, error) {
	label, err := c.name()
	if err != nil {
		return "", err
	}
	how := c.word()
	if !slices.Contains([]sgam.How{sgam.Replaced, sgam.Ended, sgam.StartMoved, sgam.Split}, sgam.How(how)) {
		return "", fmt.Errorf("want replaced, ended, start_moved or split, not %q", how)
	}
	over, err := c.interval()
	return label + " " + how + " " + over, err
}

// joined writes a list in one order only; an empty one is "nothing".
func joined(names []string) string {
	if len(names) == 0 {
		return "nothing"
	}
	names = slices.Clone(names)
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// row reads one expected row: the leading clauses of its kind, then clauses with keywords.
func (c *cursor) row(kind ...string) (row, error) {
	out := row{}
	for _, clause := range kind {
		text, err := c.lead(clause, out)
		if err != nil {
			return nil, err
		}
		if text != "" {
			out[clause] = text
		}
	}
	var displaced []string
	for !c.done() {
		word := c.word()
		read, ok := clauseText[word]
		if !ok {
			return nil, fmt.Errorf("unknown clause %q", word)
		}
		text, err := read(c)
		if err != nil {
			return nil, err
		}
		if word == "displaces" {
			displaced = append(displaced, text)
			text = joined(displaced)
		} else if _, again := out[word]; again {
			return nil, fmt.Errorf("clause %q is there twice", word)
		}
		out[word] = text
	}
	return out, nil
}

// lead reads a clause that has no keyword.
func (c *cursor) lead(clause string, so row) (string, error) {
	switch clause {
	case "slot":
		slot, err := c.slot()
		return textOfSlot(slot), err
	case "over", "known":
		return c.interval()
	case "answer":
		if so["op"] == string(sgam.Withdraw) {
			return "", nil
		}
		return c.answer()
	case "before":
		return c.answer()
	case "after":
		if !c.take("->") {
			return "", fmt.Errorf("want -> at %q", c.text)
		}
		return c.answer()
	case "code":
		if so["outcome"] != string(sgam.Rejected) {
			return "", nil
		}
		if _, keyword := clauseText[c.peek()]; keyword || c.done() {
			return "", nil
		}
		return c.word(), nil
	case "outcome":
		if c.peek() == "error" {
			return c.answer()
		}
	}
	return takeWord(c)
}

func textOfSlot(s sgam.Slot) string {
	parts := []string{s.Subject, s.Attribute}
	for i, part := range parts {
		if strings.ContainsAny(part, " \t=(),.\"") {
			quoted, err := json.Marshal(part)
			if err == nil {
				parts[i] = string(quoted)
			}
		}
	}
	return strings.Join(parts, ".")
}
