package main

import (
	"errors"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/schema"
)

// report tells what became of the lines of an input, while it runs and at its end.
type report struct {
	p       *program
	w       words
	preview bool
	bar     *progressbar.ProgressBar
	counts  map[string]int
	rows    []reportRow
	calm    int // rows that need no attention
	omitted int // rows that do and are not kept
	lines   int
}

// reportRow is a line of input as it is told to a person.
type reportRow struct {
	cells     []string
	attention bool
}

// listed is how many lines are told one by one to a person; of a longer input, only those that need attention, so many of
// them at most.
const (
	listed          = 20
	listedAttention = 200
)

func newReport(p *program, w words, preview bool) *report {
	return &report{p: p, w: w, preview: preview, counts: map[string]int{}}
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

// faultText says what is wrong, with each field in front when it has one.
func faultText(err error) string {
	faults := faultsOf(err)
	if len(faults) == 0 {
		return oneLine(err.Error())
	}
	says := make([]string, len(faults))
	for i := range faults {
		if says[i] = faults[i].Error(); faults[i].Field == "" {
			says[i] = faults[i].Rule + ": want " + faults[i].Want
		}
	}
	return oneLine(strings.Join(says, "; "))
}

// faultsOf lists the faults of an input that an error is about.
func faultsOf(err error) []sgam.FieldError {
	if all, ok := errors.AsType[*sgam.ValidationError](err); ok {
		return all.Faults
	}
	if all, ok := errors.AsType[*schema.DocumentError](err); ok {
		return all.Faults
	}
	if fe, ok := fieldError(err); ok {
		return []sgam.FieldError{*fe}
	}
	return nil
}

func faultOf(err error) *faultJSON { return &faultJSON{Message: faultText(err), Faults: faultsOf(err)} }

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

// row keeps a line for a person.
func (r *report) row(at string, outcome sgam.Outcome, about, details string, memory sgam.MemoryID) {
	attention := outcome == sgam.Rejected || outcome == sgam.Pending || outcome == sgam.Disputed
	switch {
	case !attention && r.calm > listed:
		return
	case !attention:
		r.calm++
	case len(r.rows)-r.calm == listedAttention:
		r.omitted++
		return
	}
	id := ""
	if !memory.IsZero() {
		id = short(memory)
	}
	cells := []string{at, r.p.out.paint(outcomeInk(outcome), string(outcome)), about, details, id}
	r.rows = append(r.rows, reportRow{cells, attention})
}

// list prints the lines that were kept.
func (r *report) list() {
	l := r.p.out.list(column{name: "LINE"}, column{name: "OUTCOME"}, column{name: "ABOUT", flex: yields},
		column{name: "DETAILS", flex: yields}, column{name: "MEMORY", ink: quiet})
	for _, row := range r.rows {
		if row.attention || r.calm <= listed {
			l.add(row.cells...)
		}
	}
	l.flush()
	if r.omitted > 0 {
		r.p.out.println(r.p.out.paint(quiet, "… and "+count(r.omitted, "line", "lines")+" of that kind; --json shows each"))
	}
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
	r.list()
	var parts []string
	for _, kind := range []string{
		"recorded", string(sgam.Applied), string(sgam.Confirmed), string(sgam.Duplicate), string(sgam.Pending), string(sgam.Disputed),
		string(sgam.Rejected), "bad", "not submitted",
	} {
		if n := r.counts[kind]; n > 0 {
			parts = append(parts, r.p.out.paint(kindInk(kind), grouped(n)+" "+kind))
		}
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
