package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/sgam-ledger/sgam"
)

// applying are the flags of apply.
type applying struct {
	writer
	batch        int
	allOrNothing bool
	stopOnError  bool
	preview      bool
}

func (p *program) apply() *cobra.Command {
	var a applying
	c := &cobra.Command{
		Use:   "apply [FILE…]",
		Short: "Submit deltas and episodes, one JSON object a line, and answer each with a receipt",
		Long: `Submit deltas and episodes from files, or from standard input when no file or "-" is named. A line is a delta, which
may bring its episode along, or an episode alone: {"episode": {…}}. The ledger is made when the file does not exist.

Each line is one call of its own, so that the lines of one input know of each other, and each gets its own known time.
--batch takes several lines into one call and is what makes a long input fast: one call is one durable commit.

A line that cannot be read, or a delta that is rejected, is reported with its place and does not stop the others, and the
exit code is 1.`,
		Example: `  sgam apply memory.jsonl --db agent.db --tenant acme --principal agent-7
  extract | sgam apply --db agent.db --json`,
		RunE: func(c *cobra.Command, args []string) error {
			if err := atMostOne(c, "batch", "all-or-nothing"); err != nil {
				return err
			}
			if a.batch < 1 {
				return usage("--batch %d: want a number from 1 on", a.batch)
			}
			if len(args) == 0 {
				if f, ok := p.in.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
					return usage("name a file of JSON lines, or - to type them")
				}
				args = []string{"-"}
			}
			return p.submit(c.Context(), args, &a)
		},
	}
	c.Flags().IntVar(&a.batch, "batch", 1, "take so many `lines` into one call: one known time, one commit")
	c.Flags().BoolVar(&a.allOrNothing, "all-or-nothing", false, "take the whole input as one call that is applied entirely or not at all")
	c.Flags().BoolVar(&a.stopOnError, "stop-on-error", false, "stop at the first call with a line that is bad or rejected")
	c.Flags().BoolVar(&a.preview, "preview", false, "plan each call against what stands, and write nothing")
	a.add(c)
	return c
}

func (p *program) submit(ctx context.Context, names []string, a *applying) error {
	in := &inputs{stdin: p.in, names: names}
	size, err := in.check()
	if err != nil {
		return err
	}
	w, err := p.words()
	if err != nil {
		return err
	}
	run := func(l *sgam.Ledger) error {
		t, err := l.Tenant(p.flags.tenant)
		if err != nil {
			return usage("--tenant %q: %w", p.flags.tenant, err)
		}
		in.t = t.As(a.principal)
		report := newReport(p, w, a.preview)
		in.seen = report.progress(size)
		err = (&intake{ctx: ctx, t: in.t, opts: a, report: report}).run(in)
		report.finish()
		if err == nil && report.refused() {
			return no()
		}
		return err
	}
	if a.preview {
		return p.reading(ctx, run)
	}
	return p.writing(ctx, true, run)
}

// intake gathers lines into calls.
type intake struct {
	ctx     context.Context
	t       *sgam.Tenant
	opts    *applying
	report  *report
	waiting []inputLine
}

func (k *intake) run(in *inputs) error {
	err := in.each(k.ctx, k.line)
	if err == nil && (len(k.waiting) > 0) {
		err = k.call()
	}
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

func (k *intake) line(line inputLine) error {
	if line.fault != nil {
		k.report.fault(line.at, line.fault)
		if k.opts.stopOnError || k.opts.allOrNothing {
			k.report.drop(len(k.waiting))
			return errEnough
		}
		return nil
	}
	k.waiting = append(k.waiting, line)
	if k.opts.allOrNothing || len(k.waiting) < k.opts.batch {
		return nil
	}
	return k.call()
}

// call submits the lines that wait.
func (k *intake) call() error {
	lines := k.waiting
	k.waiting = nil
	wrong, err := k.settle(lines)
	if err == nil && wrong && k.opts.stopOnError {
		return errEnough
	}
	return errors.Join(err, k.ctx.Err())
}

// settle submits lines as one call and reports what became of them. A line that makes the call malformed is taken out of
// it, and the rest goes again. It returns whether a line was bad or rejected.
func (k *intake) settle(lines []inputLine) (wrong bool, err error) {
	for len(lines) > 0 {
		receipts, err := k.submit(lines)
		if err == nil {
			return k.report.receipts(lines, receipts) || wrong, nil
		}
		if !malformed(err) {
			return wrong, fmt.Errorf("%s: %w", placeOf(lines), err)
		}
		n := blame(lines, err)
		wrong = true
		switch {
		case k.opts.allOrNothing:
			at := lines
			if n >= 0 {
				at = lines[n : n+1]
			}
			k.report.fault(placeOf(at), unplaced(err))
			k.report.drop(len(lines) - 1)
			return true, nil
		case n < 0:
			for i := range lines { // one of them does not fit to the others: each is a call of its own
				if _, err := k.settle(lines[i : i+1]); err != nil {
					return true, err
				}
			}
			return true, nil
		}
		k.report.fault(lines[n].at, unplaced(err))
		lines = append(lines[:n:n], lines[n+1:]...)
	}
	return wrong, nil
}

// placeOf names the lines of one call.
func placeOf(lines []inputLine) string {
	if len(lines) == 1 {
		return lines[0].at
	}
	return lines[0].at + " to " + lines[len(lines)-1].at
}

// malformed reports whether a call failed by what it says, so that sending it again would fail again.
func malformed(err error) bool {
	_, fault := fieldError(err)
	_, faults := errors.AsType[*sgam.ValidationError](err)
	return fault || faults
}

func (k *intake) submit(lines []inputLine) ([]sgam.Receipt, error) {
	b := sgam.Batch{AllOrNothing: k.opts.allOrNothing}
	for _, line := range lines {
		if line.episode != nil {
			b.Episodes = append(b.Episodes, *line.episode)
		} else {
			b.Deltas = append(b.Deltas, *line.delta)
		}
	}
	if k.opts.preview {
		return k.t.Preview(k.ctx, b)
	}
	return k.t.ApplyBatch(k.ctx, b)
}

// blame finds the line that made a call malformed, -1 when the fault does not say.
func blame(lines []inputLine, err error) int {
	if len(lines) == 1 {
		return 0
	}
	fe, ok := fieldError(err)
	if !ok {
		return -1
	}
	kind, rest, _ := strings.Cut(fe.Field, "/")
	number, _, _ := strings.Cut(rest, "/")
	n, parseErr := strconv.Atoi(number)
	if parseErr != nil {
		return -1
	}
	for i, line := range lines {
		if (kind == "deltas") == (line.delta != nil) {
			if n--; n < 0 {
				return i
			}
		}
	}
	return -1
}

// unplaced takes the position in the call off the fields of a fault: a line knows its own place.
func unplaced(err error) error {
	if all, ok := errors.AsType[*sgam.ValidationError](err); ok {
		own := &sgam.ValidationError{Code: all.Code}
		for i := range all.Faults {
			own.Faults = append(own.Faults, unplacedFault(&all.Faults[i]))
		}
		return own
	}
	fe, ok := fieldError(err)
	if !ok {
		return err
	}
	own := unplacedFault(fe)
	return &own
}

// unplacedFault makes source_episode_id of deltas/3/source_episode_id, and episode/id of episodes/3/id or episodes/id.
func unplacedFault(fe *sgam.FieldError) sgam.FieldError {
	own := sgam.FieldError{Field: fe.Field, Rule: fe.Rule, Want: fe.Want}
	kind, rest, ok := strings.Cut(fe.Field, "/")
	if !ok || kind != "deltas" && kind != "episodes" {
		return own
	}
	if number, after, _ := strings.Cut(rest, "/"); isNumber(number) {
		rest = after
	}
	own.Field = rest
	if kind == "episodes" {
		own.Field = strings.TrimSuffix("episode/"+rest, "/")
	}
	return own
}

func isNumber(s string) bool {
	_, err := strconv.Atoi(s)
	return err == nil
}
