package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/sgam-ledger/sgam"
)

func (p *program) accept() *cobra.Command {
	return p.settling("accept", "Apply pending or disputed candidates",
		`Apply candidates that are held: pending ones, which wait for somebody's word, and disputed ones, which were too weak for
what stands. Guard and reach are evaluated now. 'sgam outcomes --held' lists what is held.`, (*sgam.Tenant).Accept)
}

func (p *program) decline() *cobra.Command {
	return p.settling("decline", "Refuse pending or disputed candidates for good",
		`Refuse candidates that are held, for good. 'sgam outcomes --held' lists what is held.`, (*sgam.Tenant).Decline)
}

type settle func(*sgam.Tenant, context.Context, sgam.MemoryID) (sgam.Receipt, error)

func (p *program) settling(verb, short, long string, do settle) *cobra.Command {
	var wr writer
	c := &cobra.Command{
		Use:     verb + " MEMORY-ID…",
		Short:   short,
		Long:    long,
		Args:    needs("MEMORY-ID…"),
		Example: "  sgam " + verb + " 0b9fcd9a-2f44-4a3a-9c5d-1f4f3c8d7a10 --db agent.db --principal mira",
		RunE: func(c *cobra.Command, args []string) error {
			ids := make([]sgam.MemoryID, len(args))
			for i, arg := range args {
				id, err := memoryFlag("MEMORY-ID", arg)
				if err != nil {
					return err
				}
				ids[i] = id
			}
			return p.writing(c.Context(), false, func(l *sgam.Ledger) error { return p.settle(c.Context(), l, &wr, ids, do) })
		},
	}
	wr.add(c)
	return c
}

func (p *program) settle(ctx context.Context, l *sgam.Ledger, wr *writer, ids []sgam.MemoryID, do settle) error {
	t, err := p.tenant(ctx, l)
	if err != nil {
		return err
	}
	t = t.As(wr.principal)
	w, err := p.words()
	if err != nil {
		return err
	}
	refused := false
	for _, id := range ids {
		r, err := do(t, ctx, id)
		if err != nil {
			return &verdict{code: codeOf(err), line: "memory " + id.String() + ": " + oneLine(err.Error()), cause: err}
		}
		refused = refused || r.Outcome == sgam.Rejected
		if p.flags.json {
			p.out.json(r)
			continue
		}
		w.receipt("memory "+id.String(), &r)
	}
	if refused {
		return no()
	}
	return nil
}
