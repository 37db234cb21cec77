package main

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sgam-ledger/sgam"
)

func (p *program) get() *cobra.Command {
	var pl place
	c := &cobra.Command{
		Use:   "get SUBJECT ATTRIBUTE",
		Short: "Answer one question: what holds, or why nothing does",
		Args:  needs("SUBJECT", "ATTRIBUTE"),
		Long: `Answer one question about one subject: the value that holds at a valid time, as it was known at a known time. When none
does, the answer says why: unknown, absent, expired or erased, and the exit code is 1.

Of a many-valued attribute it lists the values; --member asks for one of them.`,
		Example: `  sgam get mira passport_deadline --db agent.db
  sgam get mira passport_deadline --db agent.db --valid 2026-06-02 --known 2026-06-02`,
		RunE: func(c *cobra.Command, args []string) error {
			if err := p.times(c, &pl); err != nil {
				return err
			}
			return p.reading(c.Context(), func(l *sgam.Ledger) error { return p.answer(c.Context(), l, &pl, args) })
		},
	}
	pl.axes(c)
	pl.inVersions(c)
	pl.manyScopes(c)
	pl.oneMember(c)
	return c
}

// answer asks the question and prints the answer.
func (p *program) answer(ctx context.Context, l *sgam.Ledger, pl *place, args []string) error {
	t, err := p.tenant(ctx, l)
	if err != nil {
		return err
	}
	v := pl.view(t)
	subject, attribute := args[0], args[1]
	var f sgam.Fact
	if pl.member == "" {
		f, err = v.Get(ctx, subject, attribute)
		if errors.Is(err, sgam.ErrManyValued) {
			return p.members(ctx, t, v, pl, args)
		}
	} else {
		f, err = p.member(ctx, v, pl, args)
	}
	none, isNone := errors.AsType[*sgam.NoValueError](err)
	unmigrated := errors.Is(err, sgam.ErrUnmigrated)
	if err != nil && !isNone && !unmigrated {
		return named(err, attribute)
	}
	answer := sgam.Stretch{Fact: &f, Reason: err}
	if isNone {
		answer = sgam.Stretch{Fact: none.By, Reason: none.Reason}
	}
	valid, known := v.Pinned()
	if p.flags.json {
		p.out.json(answerJSON{valid, known, beliefOf(answer.Fact, answer.Reason)})
	} else if err := p.showAnswer(ctx, t, pl, args, answer, valid, known); err != nil {
		return err
	}
	if err != nil {
		return no()
	}
	return nil
}

// member asks for one member, in the first scope that has an answer.
func (p *program) member(ctx context.Context, v sgam.View, pl *place, args []string) (sgam.Fact, error) {
	slot := sgam.Slot{Subject: args[0], Attribute: args[1], Member: jsonOrText(pl.member)}
	return v.Member(ctx, slot)
}

func (p *program) showAnswer(ctx context.Context, t *sgam.Tenant, pl *place, args []string, a sgam.Stretch, valid, known time.Time) error {
	w, err := p.words()
	if err != nil {
		return err
	}
	slot := sgam.Slot{Subject: args[0], Attribute: args[1]}
	if pl.member != "" {
		slot.Member = jsonOrText(pl.member)
	}
	said, ink := w.belief(a.Fact, a.Reason)
	if a.Reason == nil {
		p.out.println(slotName(slot), " = ", p.out.paint(ink, said))
	} else {
		p.out.println(slotName(slot), " is ", p.out.paint(ink, said), ": ", reasonSays(a.Reason))
	}
	l := w.details()
	if a.Fact != nil {
		if err := w.fact(ctx, t, l, a.Fact); err != nil {
			return err
		}
	}
	l.add("asked", w.asked(pl, valid, known))
	l.flush()
	return nil
}

// details is a list of labels and what they say.
func (w words) details() *list {
	l := w.s.list(column{ink: quiet}, column{flex: yields, wrap: true})
	l.bare, l.indent = true, "  "
	return l
}

// fact tells where a fact holds and where it comes from.
func (w words) fact(ctx context.Context, t *sgam.Tenant, l *list, f *sgam.Fact) error {
	l.add("true", w.during(f.Valid))
	if f.Asserted.From != f.Valid.From || w.until(f.Asserted) != w.until(f.Valid) {
		l.add("as stated", w.during(f.Asserted))
	}
	l.add("believed", "since "+w.from(f.Known))
	if made := madeByALens(f); made != "" {
		l.add("version", made)
	}
	said := printable(f.Episode)
	if f.Episode != "" {
		e, err := t.Episode(ctx, f.Episode)
		if err != nil && !errors.Is(err, sgam.ErrNotFound) {
			return err
		}
		if err == nil {
			said = w.episode(e)
		}
	}
	l.add("said by", said)
	if f.Principal != "" {
		l.add("written by", printable(f.Principal))
	}
	if f.Scope != "" {
		l.add("scope", printable(string(f.Scope)))
	}
	if f.Confidence != nil {
		l.add("confidence", formatFloat(*f.Confidence))
	}
	if !f.Supersedes.IsZero() {
		l.add("superseded", "memory "+f.Supersedes.String())
	}
	l.add("memory", f.ID.String())
	return nil
}

// madeByALens says how a value differs from what was stated; nothing for a value that is as it was stated.
func madeByALens(f *sgam.Fact) string {
	said := []string{"of " + f.MemoryType + "@" + strconv.Itoa(f.SchemaVersion)}
	if f.StoredVersion != f.SchemaVersion {
		said = append(said, "made from version "+strconv.Itoa(f.StoredVersion)+" for this answer")
	}
	if f.Lossy {
		said = append(said, "leaves out some of what was said")
	}
	if len(f.Defaulted) > 0 {
		said = append(said, "nobody said "+strings.Join(f.Defaulted, ", "))
	}
	if len(said) == 1 {
		return ""
	}
	return printable(strings.Join(said, "; "))
}

// members lists the values of a many-valued attribute.
func (p *program) members(ctx context.Context, t *sgam.Tenant, v sgam.View, pl *place, args []string) error {
	w, err := p.words()
	if err != nil {
		return err
	}
	var facts []*sgam.Fact
	var none *sgam.NoValueError
	var failed error
	for f, err := range v.Members(ctx, args[0], args[1]) {
		if why, ok := errors.AsType[*sgam.NoValueError](err); ok {
			none = why
			continue
		}
		if errors.Is(err, sgam.ErrUnmigrated) {
			failed = unmigrated(err)
			continue
		}
		if err != nil {
			return named(err, args[1])
		}
		facts = append(facts, &f)
	}
	valid, known := v.Pinned()
	if len(facts) == 0 && failed != nil {
		return failed
	}
	if len(facts) == 0 {
		answer := sgam.Stretch{Reason: sgam.ErrUnknown}
		if none != nil {
			answer = sgam.Stretch{Fact: none.By, Reason: none.Reason}
		}
		if p.flags.json {
			p.out.json(answerJSON{valid, known, beliefOf(answer.Fact, answer.Reason)})
		} else if err := p.showAnswer(ctx, t, pl, args, answer, valid, known); err != nil {
			return err
		}
		return no()
	}
	if p.flags.json {
		p.out.json(membersJSON{valid, known, facts})
		return failed
	}
	p.out.println(slotName(sgam.Slot{Subject: args[0], Attribute: args[1]}), " has ", count(len(facts), "value", "values"))
	l := w.factList(len(pl.scopes) > 1, false)
	l.indent = "  "
	for _, f := range facts {
		w.addFact(l, f, len(pl.scopes) > 1, false)
	}
	l.flush()
	p.out.println(p.out.wrap("  ", p.out.paint(quiet, "asked ")+w.asked(pl, valid, known)))
	return failed
}

// unmigrated is the verdict of a list in which some fact has no form in the version that is read.
func unmigrated(err error) error {
	return &verdict{code: exitNo, line: "some of what holds is not shown: " + err.Error(), cause: err}
}
