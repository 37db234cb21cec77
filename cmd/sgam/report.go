package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/sgam-ledger/sgam"
)

// report tells what became of the lines of an input, while it runs and at its end.
type report struct {
	p       *program
	w       words
	preview bool
	bar     *progressbar.ProgressBar
	counts  map[string]int
	rows    *list
	shown   int
	hidden  int
	lines   int
}

// listed is how many lines are told one by one to a person; a longer input is told in numbers, but for what went wrong.
const listed = 20

func newReport(p *program, w words, preview bool) *report {
	return &report{p: p, w: w, preview: preview, counts: map[string]int{}, rows: p.out.list(
		column{name: "LINE"}, column{name: "OUTCOME"}, column{name: "ABOUT", flex: true}, column{name: "DETAILS", flex: true},
		column{name: "MEMORY", ink: quiet},
	)}
}

// long is the size of an input, in bytes, from which on it is worth a progress bar.
const long = 256 << 10

// progress shows a bar for a long input on a terminal, and returns what moves it on.
func (r *report) progress(size int64) func(int) {
	if !r.p.err.tty || size >= 0 && size < long {
		return nil
	}
	r.bar = progressbar.NewOptions64(size,
		progressbar.OptionSetWriter(r.p.err.unbuffered()), progressbar.OptionShowBytes(true), progressbar.OptionSetDescription("applying"),
		progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish(), progressbar.OptionSetWidth(24),
		progressbar.OptionUseANSICodes(r.p.err.color))
	return func(n int) { r.note(r.bar.Add(n)) }
}

// note keeps a failure of the progress bar with the screen that it is drawn on.
func (r *report) note(err error) { r.p.err.keep(err) }

// aside takes the bar out of the way of a line on standard error.
func (r *report) aside() {
	if r.bar != nil {
		r.note(r.bar.Clear())
	}
}

// fault reports a line about which nothing was decided.
func (r *report) fault(at string, err error) {
	r.lines++
	r.counts["bad"]++
	r.aside()
	r.p.err.printf("sgam: %s: %s\n", at, faultText(err))
	r.p.err.keep(r.p.err.flush())
	if r.p.flags.json {
		r.p.out.json(lineJSON{Input: at, Error: faultOf(err)})
		r.p.out.keep(r.p.out.flush())
	}
}

// faultText says a fault, with its field in front when it has one.
func faultText(err error) string {
	if fe, ok := fieldError(err); ok && fe.Field == "" {
		return oneLine(fe.Rule + ": want " + fe.Want)
	}
	return oneLine(err.Error())
}

func faultOf(err error) *faultJSON {
	out := &faultJSON{Message: faultText(err)}
	if fe, ok := fieldError(err); ok {
		out.Faults = []sgam.FieldError{*fe}
	}
	return out
}

// receipts reports the lines of one call. It returns whether one of them was rejected.
func (r *report) receipts(lines []inputLine, receipts []sgam.Receipt) (rejected bool) {
	n := 0
	for _, line := range lines {
		r.lines++
		if line.episode != nil {
			r.counts["recorded"]++
			if r.p.flags.json {
				r.p.out.json(lineJSON{Input: line.at, Episode: line.episode.ID})
			} else {
				r.row(line.at, "recorded", "episode "+printable(line.episode.ID), "", sgam.MemoryID{})
			}
			continue
		}
		rc := &receipts[n]
		n++
		r.counts[string(rc.Outcome)]++
		rejected = rejected || rc.Outcome == sgam.Rejected
		if r.p.flags.json {
			r.p.out.json(lineJSON{Input: line.at, Receipt: rc})
			continue
		}
		d := line.delta
		about := slotName(sgam.Slot{Scope: d.Scope, Subject: d.Subject, Attribute: d.Attribute})
		r.row(line.at, rc.Outcome, about, r.w.receiptSays(rc), rc.Memory)
	}
	r.p.out.keep(r.p.out.flush())
	return rejected
}

// row shows a line to a person, if it is among the first or needs attention.
func (r *report) row(at string, outcome sgam.Outcome, about, details string, memory sgam.MemoryID) {
	attention := outcome == sgam.Rejected || outcome == sgam.Pending || outcome == sgam.Disputed
	if r.shown >= listed && !attention || r.shown >= 10*listed {
		r.hidden++
		return
	}
	r.shown++
	id := ""
	if !memory.IsZero() {
		id = short(memory)
	}
	r.rows.add(at, r.p.out.paint(outcomeInk(outcome), string(outcome)), about, details, id)
}

// drop reports lines that were read and will not be submitted.
func (r *report) drop(n int) {
	r.lines += n
	if n > 0 {
		r.counts["not submitted"] += n
	}
}

func (r *report) refused() bool { return r.counts["bad"]+r.counts[string(sgam.Rejected)] > 0 }

// finish prints the numbers.
func (r *report) finish() {
	if r.bar != nil {
		r.note(r.bar.Finish())
	}
	if r.p.flags.json {
		return
	}
	r.rows.flush()
	var parts []string
	for _, kind := range []string{
		"recorded", string(sgam.Applied), string(sgam.Confirmed), string(sgam.Duplicate), string(sgam.Pending), string(sgam.Disputed),
		string(sgam.Rejected), "bad", "not submitted",
	} {
		if n := r.counts[kind]; n > 0 {
			parts = append(parts, r.p.out.paint(kindInk(kind), fmt.Sprintf("%d %s", n, kind)))
		}
	}
	if r.hidden > 0 {
		r.p.out.println(r.p.out.paint(quiet, fmt.Sprintf("… and %s that went well; --json shows each", count(r.hidden, "line", "lines"))))
	}
	total := count(r.lines, "line", "lines")
	if r.preview {
		total = "preview of " + total + ", nothing was written"
	}
	r.p.out.println(strings.Join(append([]string{total}, parts...), " · "))
}

func kindInk(kind string) ink {
	if kind == "bad" || kind == "not submitted" {
		return bad
	}
	return outcomeInk(sgam.Outcome(kind))
}
