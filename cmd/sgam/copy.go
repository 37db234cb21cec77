package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/transfer"
)

// copyJSON is the answer of copy.
type copyJSON struct {
	Types       int                   `json:"types"`
	Tenants     []copiedJSON          `json:"tenants"`
	Same        bool                  `json:"same"`
	Differences []transfer.Difference `json:"differences"`
}

// copiedJSON is what was copied of one tenant, and the digests of all that each ledger holds of it.
type copiedJSON struct {
	transfer.Copied
	From string `json:"from_sha256"`
	To   string `json:"to_sha256"`
}

func (p *program) copy() *cobra.Command {
	var from, to ledgerAt
	c := &cobra.Command{
		Use:   "copy --from LEDGER --to LEDGER",
		Short: "Copy a ledger into another one, and prove that both say the same",
		Args:  needs(),
		Long: `Copy a ledger into another one, of any engine, call by call: facts keep their ids and both their times, and outcomes, held
candidates, idempotency keys and migrations go along. Then both ledgers are read whole and compared, and each verifies
itself. A ledger is named as ENGINE:WHERE; a path alone is a file. The engine is ` + schemes() + `.

The key of a PostgreSQL ledger is in a file of its own, which --from-key and --to-key name; 'sgam init' makes the tables of a
new one, with the original's key.

A copy that was interrupted goes on where it was, and one whose original has been written since is brought forward: the same
command does both. A target that is no copy of the original is refused. Nothing may write to the target meanwhile.

With --tenant only that tenant is copied and compared. The exit code is 0 when both ledgers say the same, and 4 when they
differ.`,
		Example: `  sgam copy --from sqlite:agent.db --to sqlite:copy.db
  sgam init 'postgres:host=db user=owner dbname=memory' --key agent.db.keys --role agent
  sgam copy --from agent.db --to 'postgres:host=db user=agent dbname=memory' --to-key agent.db.keys`,
		RunE: func(c *cobra.Command, _ []string) error {
			switch {
			case c.Flags().Changed("db"):
				return usage("--db says too little here: --from and --to name the two ledgers")
			case from.where == "" || to.where == "":
				return usage("%s needs --from and --to: the two ledgers", c.CommandPath())
			}
			return p.between(c.Context(), from, to, func(a, b *sgam.Ledger) error { return p.copyLedger(c.Context(), a, b) })
		},
	}
	from.flag, to.flag = "--from", "--to"
	c.Flags().StringVar(&from.keyFile, "from-key", "", "the `file` with the key of a PostgreSQL ledger that is copied")
	c.Flags().StringVar(&to.keyFile, "to-key", "", "the `file` with the key of a PostgreSQL ledger that becomes the copy")
	c.Flags().StringVar(&from.where, "from", "", "the `ledger` that is copied, which is only read")
	c.Flags().StringVar(&to.where, "to", "", "the `ledger` that becomes its copy, a new one where there is none")
	return c
}

// between opens two ledgers, the second one with the key of the first.
func (p *program) between(ctx context.Context, from, to ledgerAt, do func(from, to *sgam.Ledger) error) (err error) {
	var source, target engine
	if source, from.where, err = engineOf(from.flag, from.where); err != nil {
		return err
	}
	if target, to.where, err = engineOf(to.flag, to.where); err != nil {
		return err
	}
	if source.scheme == target.scheme && (from.where == to.where || sameFile(from.where, to.where)) {
		return usage("--from and --to name one ledger")
	}
	a, err := source.read(ctx, from, &sgam.Options{ReadOnly: true, Clock: p.clock, Rand: p.rand})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	b, err := target.copy(ctx, to, a.Store().DigestKey(), &sgam.Options{Clock: p.clock, Rand: p.rand})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	return do(a, b)
}

func (p *program) copyLedger(ctx context.Context, from, to *sgam.Ledger) error {
	w := copyWatch{p: p}
	o := &transfer.Options{Progress: w.progress}
	if p.flags.tenantGiven {
		o.Tenants = []string{p.flags.tenant}
	}
	done, err := transfer.Copy(ctx, from, to, o)
	w.close()
	switch {
	case err != nil && ctx.Err() != nil && errors.Is(err, context.Canceled):
		return &verdict{code: exitInterrupted, line: w.interrupted(), cause: err}
	case p.flags.tenantGiven && errors.Is(err, sgam.ErrNotFound):
		return usage("--tenant %q: there is no such tenant in the ledger that is copied", p.flags.tenant)
	case err != nil:
		return copyFault(err)
	}
	found, err := transfer.Compare(ctx, from, to, o)
	if err != nil {
		return err
	}
	p.showCopy(done, found)
	if !found.Same() {
		return &verdict{code: exitTampered}
	}
	return nil
}

// copyFault says in words of the flags why a target is refused.
func copyFault(err error) error {
	const no = "--to is no copy of --from: "
	if errors.Is(err, transfer.ErrOtherKey) {
		return refused(err, no+"its digests have another key")
	}
	other, ok := errors.AsType[*transfer.OtherHistoryError](err)
	switch {
	case !ok:
		return err
	case other.Whole:
		return refused(err, no+"only it has tenant %q", other.Tenant)
	}
	return refused(err, no+"tenant %q was written by somebody else", other.Tenant)
}

func (p *program) showCopy(done *transfer.Report, found *transfer.Comparison) {
	if p.flags.json {
		answer := copyJSON{Types: done.Types, Tenants: []copiedJSON{}, Same: found.Same(), Differences: found.Differences}
		for i, c := range done.Tenants {
			answer.Tenants = append(answer.Tenants, copiedJSON{c, found.Tenants[i].From, found.Tenants[i].To})
		}
		p.out.json(answer)
		return
	}
	rows := p.out.list(column{name: "TENANT", flex: yields, ink: strong}, column{name: "CALLS", right: true}, column{name: "FACTS", right: true},
		column{name: "COPIED NOW", right: true})
	for i, c := range done.Tenants {
		rows.add(printable(c.Tenant), grouped(int(c.Calls)), grouped(int(found.Tenants[i].Facts)), grouped(int(c.New)))
	}
	rows.flush()
	if found.Same() {
		p.out.println(p.out.paint(good, "the same"), ": both ledgers hold the same calls of ", count(len(done.Tenants), "tenant", "tenants"),
			", and each follows from its facts")
		return
	}
	differences := p.out.list(column{name: "TENANT", flex: yields}, column{name: "CALL", right: true}, column{name: "WHAT DIFFERS", ink: bad})
	for _, d := range found.Differences {
		call := ""
		if d.Call != 0 {
			call = grouped(int(d.Call))
		}
		differences.add(printable(d.Tenant), call, printable(d.Detail))
	}
	differences.flush()
	p.out.println(p.out.paint(bad, count(len(found.Differences), "difference", "differences")))
}

// copyWatch draws how far a copy has come, on a terminal.
type copyWatch struct {
	p    *program
	bar  *progressbar.ProgressBar
	last transfer.Progress
}

func (w *copyWatch) progress(now transfer.Progress) {
	if now.Tenant != w.last.Tenant {
		w.close()
	}
	w.last = now
	screen := w.p.err
	if !screen.tty || w.p.flags.json {
		return
	}
	if w.bar == nil {
		w.bar = progressbar.NewOptions64(now.Total,
			progressbar.OptionSetWriter(screen.unbuffered()), progressbar.OptionSetDescription(cut(printable(now.Tenant), longestTenant)),
			progressbar.OptionShowCount(), progressbar.OptionSetWidth(24), progressbar.OptionSetPredictTime(false),
			progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish(), progressbar.OptionUseANSICodes(screen.color))
	}
	screen.keep(w.bar.Set64(now.Done))
}

// close takes the bar away.
func (w *copyWatch) close() {
	if w.bar != nil {
		w.p.err.keep(w.bar.Clear())
		w.bar = nil
	}
}

func (w *copyWatch) interrupted() string {
	const more = ": the same command goes on from there"
	if w.last.Tenant == "" {
		return "interrupted before the first call" + more
	}
	return fmt.Sprintf("interrupted after call %s of %s of tenant %q%s", grouped(int(w.last.Done)), grouped(int(w.last.Total)), w.last.Tenant, more)
}
