package sgam

import (
	"context"
	"errors"
	"iter"
	"slices"
)

// Filter narrows a list. An empty field filters nothing. Filters are applied before any limit.
type Filter struct {
	Subjects   []string
	Attributes []string
	// Types are memory types.
	Types []string
	// Scopes names the one scope of a Diff, which has no view; nil is everyone in the tenant. Lists of a view use the
	// view's scopes.
	Scopes []Scope
	// Limit ends the list after so many facts; zero is no limit.
	Limit int
}

// attributes resolves the filter's attribute and type names to ids. The second result is false when nothing can match.
func (t *Tenant) attributes(ctx context.Context, f Filter) ([]AttributeID, bool, error) {
	for _, subject := range f.Subjects {
		if fe := checkName("subjects", subject, false); fe != nil {
			return nil, false, fe
		}
	}
	if f.Limit < 0 {
		return nil, false, fault("limit", "range", "zero or a positive number")
	}
	var ids []AttributeID
	for _, name := range f.Attributes {
		a, err := t.resolve(ctx, name)
		if err != nil {
			return nil, false, err
		}
		ids = append(ids, a.id)
	}
	if len(f.Types) == 0 {
		return ids, true, nil
	}
	t.l.mu.RLock()
	defer t.l.mu.RUnlock()
	for _, typ := range f.Types {
		if t.l.catalog.types[typ] == nil {
			return nil, false, fault("types", "unknown", "a registered memory type")
		}
	}
	var of []AttributeID
	for id, a := range t.l.catalog.byID {
		if slices.Contains(f.Types, a.typ) && (len(ids) == 0 || slices.Contains(ids, id)) {
			of = append(of, id)
		}
	}
	slices.Sort(of)
	return of, len(of) > 0, nil
}

// Facts lists what holds at the view's times, of every scope of the view, each with its name. Absences are left out. A fact
// that has no form in the version that the view shows comes with an [*UnmigratedError], without its value; the list goes
// on after it.
func (v View) Facts(ctx context.Context, f Filter) iter.Seq2[Fact, error] {
	return func(yield func(Fact, error) bool) {
		ids, any, err := v.t.attributes(ctx, f)
		if err != nil {
			yield(Fact{}, err)
			return
		}
		if !any {
			return
		}
		q := &Query{Kind: QueryFacts, Subjects: f.Subjects, Attributes: ids, Scopes: v.scopes}
		n := 0
		for row, err := range v.rows(ctx, q) {
			if err != nil {
				yield(Fact{}, err)
				return
			}
			fact, err := v.t.answer(row)
			if err != nil && !errors.Is(err, ErrUnmigrated) {
				continue // a list shows what holds
			}
			if n++; !yield(fact, err) || n == f.Limit {
				return
			}
		}
	}
}

const pageRows = 256

// rows walks the pages of a query.
func (v View) rows(ctx context.Context, q *Query) iter.Seq2[*Row, error] {
	return walk(q, func() (*Page, error) { return v.ask(ctx, q) }, func(p *Page) []Row { return p.Rows })
}

func (t *Tenant) rows(ctx context.Context, q *Query) iter.Seq2[*Row, error] {
	return walkTenant(ctx, t, q, func(p *Page) []Row { return p.Rows })
}

func walkTenant[T any](ctx context.Context, t *Tenant, q *Query, items func(*Page) []T) iter.Seq2[*T, error] {
	return walk(q, func() (*Page, error) { return t.read(ctx, q) }, items)
}

// walk yields the items of page after page. A page is fetched, then yielded: no connection is held while the caller's
// loop body runs.
func walk[T any](q *Query, next func() (*Page, error), items func(*Page) []T) iter.Seq2[*T, error] {
	q.Limit, q.After = pageRows, ""
	return func(yield func(*T, error) bool) {
		for {
			page, err := next()
			if err != nil {
				yield(nil, err)
				return
			}
			list := items(page)
			for i := range list {
				if !yield(&list[i], nil) {
					return
				}
			}
			if page.Next == "" {
				return
			}
			q.After = page.Next
		}
	}
}
