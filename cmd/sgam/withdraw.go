package main

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sgam-ledger/sgam"
)

// writer is the flag of every command that writes.
type writer struct{ principal string }

func (wr *writer) add(c *cobra.Command) {
	c.Flags().StringVar(&wr.principal, "principal", "", "the user, agent or job in whose `name` this is written")
}

func (p *program) withdraw() *cobra.Command {
	var wr writer
	var memory, source string
	var w sgam.Withdrawal
	c := &cobra.Command{
		Use:   "withdraw --memory ID | --episode ID | --source KIND/ID",
		Short: "Take statements back as if they had never been made, and show what that changed",
		Args:  needs(),
		Long: `Take back one statement, everything that one episode said, or everything that one source said: the record was wrong,
poisoned or misheard. What they had cut back grows again. What was believed in between stays readable at its known times.
Each statement that is taken back gets a withdrawal with an id of its own, and withdrawing that reinstates it.`,
		Example: `  sgam withdraw --db agent.db --episode e2 --reason "sent by somebody else"
  sgam withdraw --db agent.db --source ticket/T-1042`,
		RunE: func(c *cobra.Command, _ []string) (err error) {
			if err := atMostOne(c, "memory", "episode", "source"); err != nil {
				return err
			}
			if memory == "" && w.Episode == "" && source == "" {
				return usage("%s needs one of --memory, --episode and --source", c.CommandPath())
			}
			if memory != "" {
				if w.Memory, err = memoryFlag("--memory", memory); err != nil {
					return err
				}
			}
			if source != "" {
				kind, id, ok := strings.Cut(source, "/")
				if !ok || kind == "" || id == "" {
					return usage("--source %q: want KIND/ID, such as ticket/T-1042", source)
				}
				if !slices.Contains(sourceKinds, kind) {
					return usage("--source %q: want one of %s before the /", source, strings.Join(sourceKinds, ", "))
				}
				w.SourceKind, w.SourceID = sgam.EpisodeKind(kind), id
			}
			return p.writing(c.Context(), false, func(l *sgam.Ledger) error { return p.takeBack(c.Context(), l, &wr, w) })
		},
	}
	c.Flags().StringVar(&memory, "memory", "", "the `id` of one statement")
	c.Flags().StringVar(&w.Episode, "episode", "", "the `id` of an episode: everything that it said")
	c.Flags().StringVar(&source, "source", "", "a source as `KIND/ID`: everything that it said")
	c.Flags().StringVar(&w.Reason, "reason", "", "why, kept with the withdrawal")
	wr.add(c)
	return c
}

var sourceKinds = []string{
	string(sgam.Message), string(sgam.ToolResult), string(sgam.BusinessEvent), string(sgam.File), string(sgam.Ticket),
	string(sgam.UserConfirmation),
}

// what names what a withdrawal takes back.
func what(w sgam.Withdrawal) string {
	switch {
	case !w.Memory.IsZero():
		return "memory " + w.Memory.String()
	case w.Episode != "":
		return "episode " + name(w.Episode)
	}
	return "source " + string(w.SourceKind) + "/" + name(w.SourceID)
}

func memoryFlag(what, s string) (sgam.MemoryID, error) {
	id, err := sgam.ParseMemoryID(s)
	if fe, ok := fieldError(err); ok {
		return id, usage("%s %q: want %s", what, s, fe.Want)
	}
	return id, err
}

func (p *program) takeBack(ctx context.Context, l *sgam.Ledger, wr *writer, wd sgam.Withdrawal) error {
	t, err := p.tenant(ctx, l)
	if err != nil {
		return err
	}
	t = t.As(wr.principal)
	w, err := p.words()
	if err != nil {
		return err
	}
	r, err := t.Withdraw(ctx, wd)
	if errors.Is(err, sgam.ErrNotFound) {
		return &verdict{code: exitNo, line: "nothing was said by " + what(wd) + ", so there is nothing to withdraw", cause: err}
	}
	if err != nil {
		return err
	}
	taken := make([]sgam.Entry, len(r.Withdrawn))
	for i, id := range r.Withdrawn {
		if taken[i], err = t.Memory(ctx, id); err != nil {
			return err
		}
	}
	changed, err := changedBy(ctx, t, r.Known, taken)
	if err != nil {
		return err
	}
	if p.flags.json {
		out := withdrawalJSON{Receipt: r, Changed: []differenceJSON{}}
		for _, d := range changed {
			out.Changed = append(out.Changed, differenceOf(d))
		}
		p.out.json(out)
		return nil
	}
	w.withdrawal(&r, taken, changed)
	return nil
}

// changedBy lists what is believed otherwise since one call, about the slots of the facts that it took back.
func changedBy(ctx context.Context, t *sgam.Tenant, known time.Time, taken []sgam.Entry) ([]sgam.Difference, error) {
	var changed []sgam.Difference
	seen := map[slotOf]bool{}
	for i := range taken {
		f := &taken[i].Fact
		key := slotOf{f.Scope, f.Subject, f.Attribute}
		if seen[key] {
			continue
		}
		seen[key] = true
		filter := sgam.Filter{Subjects: []string{f.Subject}, Attributes: []string{f.Attribute}, Scopes: []sgam.Scope{f.Scope}}
		for d, err := range t.Diff(ctx, known.Add(-time.Microsecond), known, filter) {
			if err != nil {
				return nil, err
			}
			changed = append(changed, d)
		}
	}
	return changed, nil
}

func (w words) withdrawal(r *sgam.Receipt, taken []sgam.Entry, changed []sgam.Difference) {
	s := w.s
	if r.Outcome == sgam.Duplicate {
		if len(r.StillDisputed) == 0 {
			s.println("already withdrawn: nothing to do")
		} else {
			s.println("nothing of it counts, so there is nothing to take back")
		}
		w.candidates(r)
		return
	}
	if len(taken) == 0 {
		s.println("declined at ", w.at(r.Known), ": nothing of it had been applied, so there was nothing to take back")
	} else {
		s.println("withdrawn at ", w.at(r.Known))
	}
	l := s.list(column{flex: yields}, column{flex: yields, ink: strong}, column{}, column{flex: yields, ink: link})
	l.bare, l.indent = true, "  "
	for i := range taken {
		f := &taken[i].Fact
		said := string(f.Op)
		if len(f.Value) > 0 {
			said += " " + w.value(f)
		}
		l.add(slotName(sgam.Slot{Scope: f.Scope, Subject: f.Subject, Attribute: f.Attribute}), said, w.during(f.Valid), source(f))
	}
	l.flush()
	w.candidates(r)
	if len(changed) == 0 {
		s.println("no belief changed")
	} else {
		s.println("believed since then:")
		rows := w.differences("  ")
		for i := range changed {
			rows.add(&changed[i])
		}
		rows.flush()
	}
	w.reinstating(r)
}

// candidates lists what a withdrawal made of those that are held, and those that it left.
func (w words) candidates(r *sgam.Receipt) {
	for _, part := range []struct {
		ids  []sgam.MemoryID
		says string
	}{
		{r.DeclinedPending, "declined, since it was pending: memory "},
		{r.StillDisputed, "still disputed ('sgam accept' applies it, 'sgam decline' drops it): memory "},
	} {
		for _, id := range part.ids {
			w.s.println("  ", part.says, id.String())
		}
	}
}

// undoListed is how many withdrawals are listed with their ids.
const undoListed = 10

// reinstating says how to undo a withdrawal. Of several statements each has one of its own, and one alone reinstates only its own.
func (w words) reinstating(r *sgam.Receipt) {
	s := w.s
	n := 1 + len(r.Parts)
	switch {
	case r.Memory.IsZero(): // only candidates were declined
	case n == 1:
		s.println(s.paint(quiet, "to reinstate it: sgam withdraw --memory "+r.Memory.String()))
	case n <= undoListed:
		s.println(s.paint(quiet, "to reinstate all of it, withdraw each of these:"))
		for _, id := range append([]sgam.MemoryID{r.Memory}, r.Parts...) {
			s.println(s.paint(quiet, "  memory "+id.String()))
		}
	default:
		s.println(s.paint(quiet, "to reinstate all of it, withdraw each of its "+grouped(n)+
			" withdrawals: 'sgam outcomes --json' lists those of "+w.at(r.Known)))
	}
}

// slotOf is where a fact belongs, whatever its member.
type slotOf struct {
	scope              sgam.Scope
	subject, attribute string
}
