//go:build cgo && unix

package crashtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"regexp"

	"github.com/sgam-ledger/sgam"
)

// portrait is everything that a ledger answers about the script, a line each. Memory ids are replaced by the order in
// which they appear, so that two ledgers to which the same happened have the same portrait.
func portrait(ctx context.Context, l *sgam.Ledger) ([]string, error) {
	p := painter{ctx: ctx, names: map[string]string{}}
	types, err := l.Types(ctx)
	p.line("type", types, err)
	for name, err := range l.Tenants(ctx) {
		p.line("tenant", name, err)
		if err == nil {
			t, err := l.Tenant(name)
			p.failed(err)
			p.tenant(t)
		}
	}
	return p.lines, p.err
}

type painter struct {
	ctx   context.Context
	lines []string
	names map[string]string
	err   error
}

var anyID = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

func (p *painter) failed(err error) { p.err = errors.Join(p.err, err) }

func (p *painter) line(what string, content any, err error) {
	p.failed(err)
	text, err := json.Marshal(content)
	p.failed(err)
	p.lines = append(p.lines, what+" "+anyID.ReplaceAllStringFunc(string(text), func(id string) string {
		if p.names[id] == "" {
			p.names[id] = fmt.Sprintf("m%d", len(p.names)+1)
		}
		return p.names[id]
	}))
}

func each[T any](p *painter, what string, all iter.Seq2[T, error]) {
	for x, err := range all {
		p.line(what, x, err)
	}
}

func (p *painter) tenant(t *sgam.Tenant) {
	each(p, "outcome", t.Outcomes(p.ctx))
	each(p, "held", t.Held(p.ctx))
	for _, subject := range []string{"mira", "ben", "cleo"} {
		for _, slot := range []sgam.Slot{
			{Attribute: "deadline"}, {Attribute: "address"}, {Attribute: "note"},
			{Attribute: "allergies", Member: json.RawMessage(`"nuts"`)}, {Attribute: "allergies", Member: json.RawMessage(`"milk"`)},
		} {
			slot.Subject = subject
			each(p, "history", t.History(p.ctx, slot))
			each(p, "timeline", t.Current().Timeline(p.ctx, slot))
			each(p, "believed", t.Believed(p.ctx, slot, day(5)))
		}
		each(p, "history", t.History(p.ctx, sgam.Slot{Subject: subject, Attribute: "allergies"}))
	}
	for i := range scriptSize {
		e, err := t.Episode(p.ctx, fmt.Sprintf("e%d", i))
		if !errors.Is(err, sgam.ErrNotFound) {
			p.line("episode", e, err)
		}
	}
}
