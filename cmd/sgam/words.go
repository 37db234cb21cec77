package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/sgam-ledger/sgam"
)

// words writes the ledger's things for people: times in one zone, open ends as words, names as text forms quote them.
type words struct {
	s    *screen
	zone *time.Location
	// indent goes in front of drawings.
	indent string
}

// at is a time with its zone, in a form that the flags of this program read. Seconds show where they are not zero.
func (w words) at(t time.Time) string {
	t = t.In(w.zone)
	layout := "2006-01-02 15:04Z07:00"
	switch {
	case t.Nanosecond() != 0:
		layout = "2006-01-02 15:04:05.999999Z07:00"
	case t.Second() != 0:
		layout = "2006-01-02 15:04:05Z07:00"
	}
	return t.Format(layout)
}

// from and until are the two ends of an interval.
func (w words) from(i sgam.Interval) string {
	if i.From.IsZero() {
		return "open start"
	}
	return w.at(i.From)
}

func (w words) until(i sgam.Interval) string {
	if i.To == nil {
		return "open end"
	}
	return w.at(*i.To)
}

// during is an interval in a sentence.
func (w words) during(i sgam.Interval) string {
	switch {
	case i.From.IsZero() && i.To == nil:
		return "at all times"
	case i.From.IsZero():
		return "until " + w.at(*i.To)
	case i.To == nil:
		return "from " + w.at(i.From) + " on"
	}
	return "from " + w.at(i.From) + " until " + w.at(*i.To)
}

// name writes one part of a slot's text form, which quotes what holds a dot, and what would not stand as one word.
func name(s string) string {
	if s == "" || strings.ContainsFunc(s, func(r rune) bool {
		return strings.ContainsRune(`.,=()[]:"\`, r) || unicode.IsSpace(r) || !unicode.IsPrint(r)
	}) {
		return strconv.Quote(s)
	}
	return s
}

// slotName is the text form of a slot: subject.attribute, with the member in brackets and the scope in front.
func slotName(s sgam.Slot) string {
	text := name(s.Subject) + "." + name(s.Attribute)
	if len(s.Member) > 0 {
		text += "[" + printable(string(s.Member)) + "]"
	}
	if s.Scope != "" {
		text = name(string(s.Scope)) + ":" + text
	}
	return text
}

// hidden are the characters that a terminal would act on instead of showing them.
func hidden(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control) || r == '\u2028' || r == '\u2029'
}

// printable shows control characters instead of sending them: what the memory holds must not drive the terminal.
func printable(s string) string {
	if !strings.ContainsFunc(s, hidden) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if hidden(r) {
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// value shows what a fact says, on one line.
func (w words) value(f *sgam.Fact) string { return printable(string(f.Value)) }

// reasons are the words for an answer that has no value, with what they mean.
var reasons = []struct {
	err        error
	word, says string
	ink        ink
}{
	{sgam.ErrUnknown, "unknown", "nothing was said about it, as known then", quiet},
	{sgam.ErrAbsent, "absent", "someone said that there is none", odd},
	{sgam.ErrExpired, "expired", "its retention policy's time is over", odd},
	{sgam.ErrErased, "erased", "the bytes are gone", bad},
	{sgam.ErrUnmigrated, "unmigrated", "it holds, and has no form in the schema version that is read", bad},
}

// reasonWord names the reason why there is no value, empty when there is one.
func reasonWord(reason error) string {
	for _, r := range reasons {
		if errors.Is(reason, r.err) {
			return r.word
		}
	}
	return ""
}

// belief is what a stretch holds: a value, or the reason why there is none.
func (w words) belief(f *sgam.Fact, reason error) (string, ink) {
	for _, r := range reasons {
		if errors.Is(reason, r.err) {
			return r.word, r.ink
		}
	}
	return w.value(f), strong
}

// source names the episode behind a fact, as lists show it.
func source(f *sgam.Fact) string {
	if f == nil {
		return ""
	}
	return printable(f.Episode)
}

// episode is who said something, in a sentence.
func (w words) episode(e sgam.Episode) string {
	said := fmt.Sprintf("%s, %s of %s", printable(e.ID), strings.ReplaceAll(string(e.Kind), "_", " "), w.at(e.OccurredAt))
	if e.Actor != "" {
		said += ", by " + printable(e.Actor)
	}
	return said
}

// hows are the words for what became of a displaced fact (rule R6).
var hows = map[sgam.How]string{
	sgam.Split: "split", sgam.Ended: "ended", sgam.StartMoved: "moved the start of", sgam.Replaced: "replaced",
}

// short is the beginning of a memory id, where the whole id is nearby.
func short(id sgam.MemoryID) string { return id.String()[:8] }

// count writes a number of things: "1 fact", "3 facts", "12,000 facts".
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return grouped(n) + " " + many
}

// grouped writes a number with a comma between its thousands.
func grouped(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// reasonSays is what the word for a reason means.
func reasonSays(reason error) string {
	for _, r := range reasons {
		if errors.Is(reason, r.err) {
			return r.says
		}
	}
	return ""
}
