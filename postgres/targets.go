package postgres

import (
	"cmp"
	"slices"

	"github.com/sgam-ledger/sgam"
)

var (
	stStanding        = named("standing")
	stMemberStandings = named("member_standings")
	stOpenSegments    = named("open_segments")
	stBacking         = named("backing")
	stPoints          = named("points")
	stNumbers         = named("numbers")
)

// Member digests are short; these are the ends of all of them but the empty one.
const (
	firstMember = "\x00"
	lastMember  = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"
)

// targetState gathers the open state of one target and of the members of its set.
type targetState struct {
	target  *sgam.Target
	own     *sgam.Standing
	members map[string]*sgam.Standing
}

// standing is the one that a row of a member belongs to; rows of members that are not open are dropped.
func (t *targetState) standing(member string) *sgam.Standing {
	if member == t.target.Slot.Member {
		return t.own
	}
	return t.members[member]
}

// queueTarget asks for the open state of one slot in a window, and of its members when they are wanted.
func (r *resolver) queueTarget(t *sgam.Target, s *sgam.Standing) {
	*s = newStanding(t.Slot, t)
	state := &targetState{target: t, own: s}
	r.targets = append(r.targets, state)
	key := t.Slot
	r.slots[key] = &slotState{nextNumber: 1}
	if _, asked := r.subjects[key.Subject]; !asked {
		r.subjects[key.Subject] = 0
	}
	r.ask(func(p row) error {
		r.subjects[key.Subject] = p.int(0)
		if !p.null(1) {
			r.slots[key] = &slotState{id: p.int(1), nextNumber: p.int(2), levels: p.int(3)}
			stands(s, t, p)
		}
		return nil
	}, stStanding, r.tenant, key.Subject, string(key.Scope), int64(key.Attribute), blob(key.Member), t.Window.From)
	r.queueState(state, key.Member, key.Member, t.Digests)
	if len(t.Digests) > 0 {
		r.ask(func(p row) error {
			for i, digest := range t.Digests {
				if digest == p.text(0) {
					s.Numbers[i] = p.int(1)
				}
			}
			return nil
		}, stNumbers, r.tenant, key.Subject, string(key.Scope), int64(key.Attribute), blob(key.Member), blobs(t.Digests))
	}
	if !t.Members {
		return
	}
	state.members = map[string]*sgam.Standing{}
	r.ask(func(p row) error {
		of := key
		of.Member = p.text(0)
		if r.slots[of] == nil {
			r.slots[of] = &slotState{id: p.int(1), nextNumber: p.int(2), levels: p.int(3)}
		}
		standing := newStanding(of, t)
		standing.Numbers = []int64{}
		stands(&standing, t, p)
		state.members[of.Member] = &standing
		return nil
	}, stMemberStandings, r.tenant, key.Subject, string(key.Scope), int64(key.Attribute), blob(firstMember), blob(lastMember), t.Window.From)
	r.queueState(state, firstMember, lastMember, []string{})
}

func newStanding(key sgam.SlotKey, t *sgam.Target) sgam.Standing {
	return sgam.Standing{Slot: key, Window: t.Window, Next: sgam.Forever, NextNumber: 1, Numbers: make([]int64, len(t.Digests))}
}

// stands takes the next free number from column 2 of a row, and the next change-point from columns 4 and 5.
func stands(s *sgam.Standing, t *sgam.Target, p row) {
	s.NextNumber = p.int(2)
	if t.Points != sgam.NextPoint {
		return
	}
	for i := 4; i <= 5; i++ {
		if !p.null(i) {
			s.Next = min(s.Next, p.instant(i))
		}
	}
	s.Window.To = min(s.Window.To, s.Next)
}

// queueState asks for the open segments, their backing and the points of a range of members.
func (r *resolver) queueState(state *targetState, low, high string, digests []string) {
	t := state.target
	key, to := t.Slot, t.Window.To
	if t.Points == sgam.NextPoint {
		to = t.Window.From + 1 // what is open before the next change-point covers the start of the window
	}
	r.ask(func(p row) error {
		if s := state.standing(p.text(0)); s != nil {
			s.Open = append(s.Open, p.from(1).Open(s.Slot))
		}
		return nil
	}, stOpenSegments, r.tenant, key.Subject, string(key.Scope), int64(key.Attribute), blob(low), blob(high), t.Window.From, to)
	if t.Strength {
		r.ask(func(p row) error {
			s := state.standing(p.text(0))
			if s == nil {
				return nil
			}
			at := slices.IndexFunc(s.Open, func(o sgam.OpenSegment) bool { return o.Valid.From == p.instant(1) })
			if at < 0 {
				return nil
			}
			s.Open[at].Backing = append(s.Open[at].Backing, sgam.Backing{
				Evidence: sgam.Evidence{Confidence: p.confidence(2), Kind: sgam.EpisodeKind(p.text(3))}, Valid: p.span(4), Elsewhere: p.flag(6),
			})
			return nil
		}, stBacking, r.tenant, key.Subject, string(key.Scope), int64(key.Attribute), blob(low), blob(high), t.Window.From, t.Window.To,
			t.Points == sgam.NextPoint)
	}
	if t.Points == sgam.AllPoints {
		r.ask(func(p row) error {
			if s := state.standing(p.text(0)); s != nil {
				s.Points = append(s.Points, sgam.Point{At: p.instant(1), Number: p.int(2), Facts: p.int(3)})
			}
			return nil
		}, stPoints, r.tenant, key.Subject, string(key.Scope), int64(key.Attribute), blob(low), blob(high), t.Window.From, t.Window.To,
			blobs(digests))
	}
}

// finishTargets puts members into their order. One that is not open in its window has nothing to stop.
func (r *resolver) finishTargets() {
	for _, t := range r.targets {
		for _, s := range t.members {
			if len(s.Open) > 0 {
				t.own.Members = append(t.own.Members, *s)
			}
		}
		slices.SortFunc(t.own.Members, func(a, b sgam.Standing) int { return cmp.Compare(a.Slot.Member, b.Slot.Member) })
	}
}
