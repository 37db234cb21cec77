package postgres

import (
	"context"
	"slices"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/internal/cursor"
)

var (
	stMembers         = named("members")
	stFactsOfScope    = named("facts_of_scope")
	stFactsOfSubjects = named("facts_of_subjects")
	stScopes          = named("scopes")
	stTimeline        = named("timeline")
	stBelieved        = named("believed")
)

// listed is one row of a list, and where it goes on after it.
type listed struct {
	row  sgam.Row
	next cursor.Cursor
}

// fill puts what was found on the page. One row more than the page holds says that there is more.
func (r *reader) fill(found []listed) {
	if len(found) > r.limit() {
		found = found[:r.limit()]
		r.page.Next = found[len(found)-1].next.String()
	}
	for i := range found {
		r.page.Rows = append(r.page.Rows, found[i].row)
	}
}

// facts lists what holds: by scope in byte order, then by subject in the order of first mention, attribute and member.
func (r *reader) facts(ctx context.Context) error {
	after, err := cursor.Parse(r.q.After, []int64{0, 0}, 2)
	if err != nil {
		return err
	}
	var scopes []string
	for _, s := range r.q.Scopes {
		scopes = append(scopes, string(s))
	}
	slices.Sort(scopes)
	scopes = slices.Compact(scopes)
	var found []listed
	for from := after.Names[0]; len(found) <= r.limit(); {
		some, more := scopes, false
		if len(r.q.Scopes) == 0 {
			if some, err = r.scopesFrom(ctx, from); err != nil {
				return err
			}
			more = len(some) == scopesAtOnce
		}
		for _, scope := range some {
			if scope < after.Names[0] {
				continue
			}
			at := cursor.Cursor{Numbers: []int64{0, 0}, Names: []string{scope, ""}}
			if scope == after.Names[0] {
				at = after
			}
			r.queueScope(at, &found)
		}
		if err := r.run(ctx); err != nil {
			return err
		}
		if !more {
			break
		}
		from = some[len(some)-1] + "\x00" // the next name in byte order
	}
	r.fill(found)
	return nil
}

// scopesAtOnce is how many scopes are asked for what they hold in one round trip.
const scopesAtOnce = 16

// scopesFrom lists some scopes of the tenant, beginning with a name.
func (r *reader) scopesFrom(ctx context.Context, from string) ([]string, error) {
	var scopes []string
	r.add(func(p row) error { scopes = append(scopes, p.text(0)); return nil }, stScopes, r.tenant, from, scopesAtOnce)
	return scopes, r.run(ctx)
}

// queueScope asks for what holds in the scope of a cursor, after the cursor.
func (r *reader) queueScope(at cursor.Cursor, found *[]listed) {
	var attributes []int64
	for _, id := range r.q.Attributes {
		attributes = append(attributes, int64(id))
	}
	st := stFactsOfScope
	args := []any{r.tenant, at.Names[0], at.Numbers[0], at.Numbers[1], blob(at.Names[1]), r.valid(), r.known(), attributes, r.limit() + 1, r.nodes()}
	if len(r.q.Subjects) > 0 {
		st, args = stFactsOfSubjects, append(args, r.q.Subjects)
	}
	r.add(func(p row) error {
		row, ref, _, err := p.segment()
		*found = append(*found, listed{row, ref.cursor()})
		return err
	}, st, args...)
}

// members lists the member slots of set slots, and each set slot itself before them.
func (r *reader) members(ctx context.Context) error {
	after, err := cursor.Parse(r.q.After, []int64{0}, 1)
	if err != nil {
		return err
	}
	var found []listed
	for i := int(after.Numbers[0]); i < len(r.q.Slots); i++ {
		set, member := r.q.Slots[i], ""
		begin := r.q.After == "" || i > int(after.Numbers[0])
		if !begin {
			member = after.Names[0]
		}
		r.add(func(p row) error {
			row, ref, _, err := p.segment()
			found = append(found, listed{row, cursor.Cursor{Numbers: []int64{int64(i)}, Names: []string{ref.key.Member}}})
			return err
		}, stMembers, r.tenant, set.Subject, string(set.Scope), int64(set.Attribute), blob(member), r.valid(), r.known(), begin, r.limit()+1,
			r.nodes())
	}
	if err := r.run(ctx); err != nil {
		return err
	}
	r.fill(found)
	return nil
}

// timeline lists the segments of a slot that were believed at the known time.
func (r *reader) timeline(ctx context.Context) error {
	after, err := cursor.Parse(r.q.After, []int64{int64(sgam.Beginning) - 1}, 0)
	if err != nil {
		return err
	}
	key := r.q.Slots[0]
	var found []listed
	r.add(func(p row) error {
		row, _, _, err := p.segment()
		found = append(found, listed{row, cursor.At(p.int(6))})
		return err
	}, stTimeline, r.tenant, key.Subject, string(key.Scope), int64(key.Attribute), blob(key.Member), after.Numbers[0], r.known(),
		r.limit()+1, r.nodes())
	if err := r.run(ctx); err != nil {
		return err
	}
	r.fill(found)
	return nil
}

// believed lists the segments that ever covered one valid instant, in order of known time.
func (r *reader) believed(ctx context.Context) error {
	after, err := cursor.Parse(r.q.After, []int64{int64(sgam.Beginning) - 1}, 0)
	if err != nil {
		return err
	}
	key := r.q.Slots[0]
	var found []listed
	r.add(func(p row) error {
		row, _, known, err := p.segment()
		row.Fact.Known = known.Interval()
		found = append(found, listed{row, cursor.At(p.int(8))})
		return err
	}, stBelieved, r.tenant, key.Subject, string(key.Scope), int64(key.Attribute), blob(key.Member), r.valid(), after.Numbers[0], r.limit()+1)
	if err := r.run(ctx); err != nil {
		return err
	}
	r.fill(found)
	return nil
}
