//go:build cgo

package sqlite

import (
	"slices"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/internal/cursor"
)

var (
	stSegmentAt      = named("segment_at")
	stNextScope      = named("next_scope")
	stSlotsOfScope   = named("slots_of_scope")
	stSlotsOfSubject = named("slots_of_subject")
	stSubject        = named("subject")
	stSubjectName    = named("subject_name")
)

// slotRef is one slot in a list.
type slotRef struct {
	id, subject, attribute int64
	scope, member          string
	levels, nextNumber     int64
}

// cursor is where a list goes on after the slot.
func (f *slotRef) cursor() cursor.Cursor {
	return cursor.Cursor{Numbers: []int64{f.subject, f.attribute}, Names: []string{f.scope, f.member}}
}

// key is the slot as the ledger names it.
func (r *reader) key(f *slotRef) (sgam.SlotKey, error) {
	name, known := r.subjects[f.subject]
	if !known {
		p, err := r.one(stSubjectName, r.tenant, f.subject)
		if err != nil {
			return sgam.SlotKey{}, err
		}
		if p == nil {
			return sgam.SlotKey{}, damaged("subject %d", f.subject)
		}
		if r.subjects == nil {
			r.subjects = map[int64]string{}
		}
		name = p.text(0)
		r.subjects[f.subject] = name
	}
	return sgam.SlotKey{
		Scope: sgam.Scope(f.scope), Subject: name, Attribute: sgam.AttributeID(f.attribute), Member: f.member,
	}, nil
}

// at is the segment of a slot at the query's point of the plane, nil when there is none.
func (r *reader) at(f *slotRef) (*rectangle, error) {
	p, err := r.one(stSegmentAt, r.tenant, f.id, f.levels, int64(r.valid()), int64(r.known()))
	if err != nil || p == nil {
		return nil, err
	}
	g := p.rectangle()
	return &g, nil
}

// show appends the row of a slot, if it has a segment at the query's point of the plane.
func (r *reader) show(f *slotRef) error {
	g, err := r.at(f)
	if err != nil || g == nil {
		return err
	}
	key, err := r.key(f)
	if err != nil {
		return err
	}
	row, err := r.row(key, *g)
	if err != nil {
		return err
	}
	r.page.Rows = append(r.page.Rows, row)
	return nil
}

// facts lists what holds: by scope in byte order, then by subject in the order of first mention, attribute and member.
func (r *reader) facts() error {
	// A page looks at a bounded number of slots, however few of them have something to show.
	for looked, budget := 0, 4*r.limit(); ; {
		found, next, err := r.slots(r.limit())
		if err != nil {
			return err
		}
		for i := range found {
			f := &found[i]
			if len(r.q.Attributes) == 0 || slices.Contains(r.q.Attributes, sgam.AttributeID(f.attribute)) {
				if err := r.show(f); err != nil {
					return err
				}
			}
			looked++
			if len(r.page.Rows) == r.limit() || looked >= budget {
				if next != "" || i < len(found)-1 {
					r.page.Next = f.cursor().String()
				}
				return nil
			}
		}
		if next == "" {
			return nil
		}
		r.q = r.after(next)
	}
}

// after is the query from a cursor on.
func (r *reader) after(next string) *sgam.Query {
	q := *r.q
	q.After = next
	return &q
}

// slots lists up to n slots after the query's cursor that its scopes and subjects name. The cursor that it returns is
// empty when there are no more.
func (r *reader) slots(n int) ([]slotRef, string, error) {
	after, err := cursor.Parse(r.q.After, []int64{0, 0}, 2)
	if err != nil {
		return nil, "", err
	}
	subjects, err := r.subjectIDs()
	if err != nil {
		return nil, "", err
	}
	w := slotWalk{r: r, subjects: subjects, from: after, n: n}
	if len(r.q.Scopes) > 0 {
		scopes := make([]string, len(r.q.Scopes))
		for i, s := range r.q.Scopes {
			scopes[i] = string(s)
		}
		slices.Sort(scopes)
		for _, scope := range slices.Compact(scopes) {
			if err := w.scope(scope); err != nil {
				return nil, "", err
			}
		}
		return w.found, w.next(), nil
	}
	for scope, more := after.Names[0], true; more && len(w.found) < n; {
		if err := w.scope(scope); err != nil {
			return nil, "", err
		}
		p, err := r.one(stNextScope, r.tenant, scope)
		if err != nil {
			return nil, "", err
		}
		if more = p != nil && !p.null(0); more {
			scope = p.text(0)
		}
	}
	return w.found, w.next(), nil
}

// subjectIDs are the numbers of the subjects that the query names, nil when it names none.
func (r *reader) subjectIDs() ([]int64, error) {
	if len(r.q.Subjects) == 0 {
		return nil, nil
	}
	ids := []int64{}
	for _, name := range r.q.Subjects {
		p, err := r.one(stSubject, r.tenant, name)
		if err != nil {
			return nil, err
		}
		if p != nil {
			ids = append(ids, p.int(0))
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids), nil
}

// slotWalk gathers slots in order.
type slotWalk struct {
	r        *reader
	subjects []int64 // nil for all
	from     cursor.Cursor
	n        int
	found    []slotRef
}

// next is the cursor after what was found, empty when less was found than asked for.
func (w *slotWalk) next() string {
	if len(w.found) < w.n {
		return ""
	}
	return w.found[len(w.found)-1].cursor().String()
}

// scope gathers the slots of one scope that come after the cursor.
func (w *slotWalk) scope(scope string) error {
	if scope < w.from.Names[0] || len(w.found) >= w.n {
		return nil
	}
	after := cursor.Cursor{Numbers: []int64{0, 0}, Names: []string{scope, ""}}
	if scope == w.from.Names[0] {
		after = w.from
	}
	if w.subjects == nil {
		return w.gather(scope, stSlotsOfScope, after.Numbers[0], after.Numbers[1], blob(after.Names[1]))
	}
	for _, id := range w.subjects {
		if id < after.Numbers[0] || len(w.found) >= w.n {
			continue
		}
		attribute, member := int64(0), ""
		if id == after.Numbers[0] {
			attribute, member = after.Numbers[1], after.Names[1]
		}
		if err := w.gather(scope, stSlotsOfSubject, id, attribute, blob(member)); err != nil {
			return err
		}
	}
	return nil
}

func (w *slotWalk) gather(scope string, st *statement, subject, attribute int64, member []byte) error {
	return w.r.each(func(p *running) error {
		w.found = append(w.found, slotRef{
			id: p.int(0), subject: p.int(1), attribute: p.int(2), scope: scope, member: string(p.bytes(3)), levels: p.int(4),
		})
		return nil
	}, st, w.r.tenant, scope, subject, attribute, member, int64(w.n-len(w.found)))
}

// members lists the member slots of set slots, and each set slot itself before them.
func (r *reader) members() error {
	after, err := cursor.Parse(r.q.After, []int64{0}, 1)
	if err != nil {
		return err
	}
	for i := int(after.Numbers[0]); i < len(r.q.Slots); i++ {
		found, err := r.attributeSlots(r.q.Slots[i])
		if err != nil {
			return err
		}
		for j := range found {
			f := &found[j]
			if r.q.After != "" && i == int(after.Numbers[0]) && f.member <= after.Names[0] {
				continue
			}
			if len(r.page.Rows) == r.limit() {
				return nil
			}
			if err := r.show(f); err != nil {
				return err
			}
			r.page.Next = cursor.Cursor{Numbers: []int64{int64(i)}, Names: []string{f.member}}.String()
		}
	}
	r.page.Next = ""
	return nil
}

// attributeSlots are the set slot and the member slots of one attribute of one subject, in order of the member.
func (s *session) attributeSlots(set sgam.SlotKey) ([]slotRef, error) {
	var found []slotRef
	err := s.each(func(p *running) error {
		found = append(found, slotRef{
			id: p.int(0), subject: p.int(1), attribute: int64(set.Attribute), scope: string(set.Scope), member: string(p.bytes(2)),
			levels: p.int(3), nextNumber: p.int(4),
		})
		return nil
	}, stAttributeSlots, s.tenant, set.Subject, string(set.Scope), int64(set.Attribute))
	return found, err
}
