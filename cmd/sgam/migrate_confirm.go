package main

import (
	"context"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/sgam-ledger/sgam/migrate"
)

// confirm shows what a command would do, and asks. Where nobody can be asked it is refused.
func (p *program) confirm(ctx context.Context, a *migrationAction, typ string, all []migrate.Migration) error {
	w, err := p.words()
	if err != nil {
		return err
	}
	w.s = p.err // the answer of the command is what happened
	what := a.verb + " of " + printable(typ)
	w.s.sentence(what, ": ", a.effect)
	rows := w.s.list(column{name: "TENANT", flex: yields, ink: strong}, column{name: "VERSION"}, column{name: "STATE"}, column{name: "FACTS", right: true})
	rows.indent = w.indent
	for i := range all {
		m := &all[i]
		rows.add(printable(m.Tenant), versions(m.From, m.To), stateWord(m.State, m.Paused), grouped(int(m.Counts.Looked)))
	}
	rows.flush()
	if f, ok := p.in.(*os.File); !ok || !term.IsTerminal(int(f.Fd())) || !p.err.tty {
		return refused(nil, "nothing was done: there is no terminal to ask on, and --yes was not given")
	}
	return p.ask(ctx, "go on? [y/N] ")
}

// ask waits for a yes.
func (p *program) ask(ctx context.Context, question string) error {
	p.err.printf("%s", question)
	p.err.keep(p.err.flush())
	select {
	case <-ctx.Done():
		p.err.println()
		return ctx.Err()
	case line := <-readLines(ctx, p.in):
		switch strings.ToLower(strings.TrimSpace(string(line.text))) {
		case "y", "yes":
			return nil
		}
		return refused(line.err, "nothing was done")
	}
}
