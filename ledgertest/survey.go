package ledgertest

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/sgam-ledger/sgam"
)

// surveyor asks one tenant everything that can be asked, and writes the answers down in lines that two ledgers must
// have in common.
type surveyor struct {
	*player
	t     *sgam.Tenant
	lines []string
	err   error // the first that is no answer
}

// survey asks every tenant of the small world.
func (p *player) survey() ([]string, error) {
	var lines []string
	for name, err := range p.l.Tenants(p.ctx) {
		if err != nil {
			return nil, err
		}
		lines = append(lines, fmt.Sprintf("tenant %q", name))
	}
	for _, name := range randomTenants {
		t, err := p.l.Tenant(name)
		if err != nil {
			return nil, err
		}
		s := &surveyor{player: p, t: t}
		s.ask()
		if s.err != nil {
			return nil, s.err
		}
		lines = append(lines, s.lines...)
	}
	return lines, nil
}

func (s *surveyor) say(format string, args ...any) {
	s.lines = append(s.lines, fmt.Sprintf("%q: ", s.t.Name())+fmt.Sprintf(format, args...))
}

// broken keeps an error that is no answer.
func (s *surveyor) broken(err error) {
	if s.err == nil {
		s.err = err
	}
}

func (s *surveyor) id(id sgam.MemoryID) string {
	name, err := s.name(s.t, id)
	if err != nil {
		s.broken(err)
	}
	return name
}

func (s *surveyor) ids(list []sgam.MemoryID) string {
	var out []string
	for _, id := range list {
		out = append(out, s.id(id))
	}
	slices.Sort(out)
	return strings.Join(out, ",")
}

func (s *surveyor) displaced(list []sgam.Displacement) string {
	var out []string
	for _, d := range list {
		out = append(out, fmt.Sprintf("%s %s by %s over %s", s.id(d.Memory), d.How, s.id(d.By), textOfInterval(d.Valid)))
	}
	slices.Sort(out)
	return strings.Join(out, "; ")
}

// receipts tells receipts in full. The ids of a preview are drawn and thrown away.
func (p *player) receipts(t *sgam.Tenant, receipts []sgam.Receipt, preview bool) ([]string, error) {
	s := &surveyor{player: p, t: t}
	for i, r := range receipts {
		if preview {
			r.Memory, r.Parts = sgam.MemoryID{}, nil
			for k := range r.Displaced {
				r.Displaced[k].By = sgam.MemoryID{}
			}
			r.Confirms, r.LostTo, r.Supersedes = s.old(r.Confirms), s.old(r.LostTo), sgam.MemoryID{}
			r.Displaced = slices.DeleteFunc(r.Displaced, func(d sgam.Displacement) bool { return p.names[d.Memory] == "" })
		}
		reach, clipped := "nothing", "nothing"
		if r.Reach != nil {
			reach = textOfInterval(*r.Reach)
		}
		if r.Clipped != nil {
			clipped = textOfInterval(*r.Clipped)
		}
		s.say("receipt %d: %s of %q %s known %s supersedes %s reach %s clipped %s displaced [%s] confirms [%s] parts [%s] assumed %t "+
			"lost to [%s] withdrawn [%s] declined [%s] disputed [%s] code %q %v by %q", i, r.Outcome, r.Earlier, s.id(r.Memory),
			textOf(r.Known), s.id(r.Supersedes), reach, clipped, s.displaced(r.Displaced), s.ids(r.Confirms), s.ids(r.Parts), r.Assumed,
			s.ids(r.LostTo), s.ids(r.Withdrawn), s.ids(r.DeclinedPending), s.ids(r.StillDisputed), r.Code, r.Faults, r.Principal)
	}
	return s.lines, s.err
}

// old keeps the ids that were there before a preview.
func (s *surveyor) old(list []sgam.MemoryID) []sgam.MemoryID {
	return slices.DeleteFunc(slices.Clone(list), func(id sgam.MemoryID) bool { return s.names[id] == "" })
}

// fact tells a fact in full.
func (s *surveyor) fact(f *sgam.Fact, reason error) string {
	if f == nil {
		return textOfReason(reason)
	}
	text := string(f.Value)
	if reason != nil {
		text = textOfReason(reason)
	}
	confidence := "none"
	if f.Confidence != nil {
		confidence = fmt.Sprint(*f.Confidence)
	}
	return fmt.Sprintf("%s by %s %s %q %q.%s (%s@%d) in %q asserted %s over %s known %s recorded %s supersedes %s from %q principal %q "+
		"confidence %s retention %q %v", text, s.id(f.ID), f.Op, f.Tenant, f.Subject, f.Attribute, f.MemoryType, f.SchemaVersion, f.Scope,
		textOfInterval(f.Asserted), textOfInterval(f.Valid), textOfInterval(f.Known), textOf(f.RecordedAt), s.id(f.Supersedes), f.Episode,
		f.Principal, confidence, f.RetentionPolicy, f.Provenance)
}

// point tells the answer of a point read.
func (s *surveyor) point(f sgam.Fact, err error) string {
	if none, ok := errors.AsType[*sgam.NoValueError](err); ok {
		return s.fact(none.By, none.Reason)
	}
	if err != nil {
		text, named := textOfError(err)
		if !named {
			s.broken(err)
		}
		return text
	}
	return s.fact(&f, nil)
}

// list tells the answers of a list; where engines may choose the order, it is told sorted.
func list[T any](s *surveyor, what string, sorted bool, seq iter.Seq2[T, error], text func(*T) string) {
	var out []string
	for item, err := range seq {
		if err != nil {
			out = append(out, s.point(sgam.Fact{}, err))
			continue
		}
		out = append(out, text(&item))
	}
	if sorted {
		slices.Sort(out)
	}
	for i, line := range out {
		s.say("%s, line %d of %d: %s", what, i+1, len(out), line)
	}
}

// ask asks everything.
func (s *surveyor) ask() {
	known := s.knownTimes()
	for _, subject := range randomSubjects {
		for _, a := range randomAttributes {
			for _, scope := range []sgam.Scope{"", "s1"} {
				slot := sgam.Slot{Scope: scope, Subject: subject, Attribute: a.Name}
				s.slot(slot, known)
				for _, value := range membersOf(a) {
					slot.Member = json.RawMessage(value)
					s.slot(slot, known)
				}
			}
		}
	}
	s.lists(known)
	for i := 1; i < len(known); i++ {
		s.diff(known[i-1], known[i], sgam.Filter{})
	}
	s.diff(known[0], known[len(known)-1], sgam.Filter{Scopes: []sgam.Scope{"s1"}, Subjects: randomSubjects[:1]})
	s.diff(known[0], known[len(known)-1], sgam.Filter{Types: []string{"set"}})
	s.records()
}

func membersOf(a Attribute) []string {
	switch {
	case !a.Many:
		return nil
	case a.Identity != "":
		return randomParts
	}
	return randomValues
}

// knownTimes are a sample of the tenant's known times and of what lies before, between and after them.
func (s *surveyor) knownTimes() []time.Time {
	all := s.known[s.t.Name()]
	times := []time.Time{start.AddDate(-1, 0, 0)}
	for i, k := range all {
		if i%max(1, len(all)/6) == 0 || i == len(all)-1 {
			times = append(times, k.Add(-time.Microsecond), k)
		}
	}
	times = append(times, start.AddDate(1, 0, 0))
	slices.SortFunc(times, time.Time.Compare)
	return slices.CompactFunc(times, time.Time.Equal)
}

func (s *surveyor) slot(slot sgam.Slot, known []time.Time) {
	name := fmt.Sprintf("%q.%s in %q %s", slot.Subject, slot.Attribute, slot.Scope, slot.Member)
	for _, k := range known {
		for day := range randomDays + 1 {
			v := s.t.ValidAt(randomDay(day)).KnownAt(k)
			for _, scopes := range [][]sgam.Scope{{slot.Scope}, {slot.Scope, ""}} {
				if len(scopes) == 2 && slot.Scope == "" {
					continue
				}
				s.say("%s at %d known %s in %q: %s", name, day, textOf(k), scopes, s.point(v.In(scopes...).Member(s.ctx, slot)))
			}
		}
		list(s, "timeline of "+name+" known "+textOf(k), false, s.t.KnownAt(k).In(slot.Scope).Timeline(s.ctx, slot), s.stretch)
	}
	for day := range randomDays + 1 {
		list(s, fmt.Sprintf("believed of %s at %d", name, day), false, s.t.Believed(s.ctx, slot, randomDay(day)), func(b *sgam.Belief) string {
			return textOfInterval(b.Known) + " " + s.fact(&b.Fact, b.Reason) + " closed by " + s.id(b.ClosedBy)
		})
	}
	list(s, "history of "+name, false, s.t.History(s.ctx, slot), s.entry)
	s.explain(name, slot)
}

func (s *surveyor) stretch(x *sgam.Stretch) string {
	return textOfInterval(x.Valid) + " " + s.fact(x.Fact, x.Reason)
}

func (s *surveyor) entry(e *sgam.Entry) string {
	return fmt.Sprintf("%s displaces [%s] confirms [%s] withdraws %s", s.fact(&e.Fact, nil), s.displaced(e.Displaced), s.ids(e.Confirms),
		s.id(e.Withdraws))
}

func (s *surveyor) explain(name string, slot sgam.Slot) {
	e, err := s.t.ValidAt(randomDay(randomDays/2)).In(slot.Scope).Explain(s.ctx, slot)
	if err != nil {
		s.say("explain %s: %s", name, s.point(sgam.Fact{}, err))
		return
	}
	source := "nobody"
	if e.Source != nil {
		source = e.Source.ID
	}
	s.say("explain %s: %s; %d stretches from %q by %q replaced [%s] retention %q", name, s.stretch(&e.Now), len(e.Was), source, e.Principal,
		s.displaced(e.Replaced), e.RetentionPolicy)
}

func (s *surveyor) lists(known []time.Time) {
	told := func(f *sgam.Fact) string { return s.fact(f, nil) }
	for _, k := range known {
		for day := range randomDays + 1 {
			v := s.t.ValidAt(randomDay(day)).KnownAt(k)
			what := fmt.Sprintf("at %d known %s", day, textOf(k))
			list(s, "facts "+what, true, v.In("s1", "").Facts(s.ctx, sgam.Filter{}), told)
			list(s, "facts of a type "+what, true, v.Facts(s.ctx, sgam.Filter{Types: []string{"set"}, Subjects: randomSubjects[1:]}), told)
			for _, a := range randomAttributes {
				if a.Many {
					list(s, "members of "+a.Name+" "+what, true, v.In("", "s1").Members(s.ctx, randomSubjects[0], a.Name), told)
				}
			}
		}
	}
}

func (s *surveyor) diff(k1, k2 time.Time, f sgam.Filter) {
	list(s, fmt.Sprintf("diff %s %s %v", textOf(k1), textOf(k2), f), true, s.t.Diff(s.ctx, k1, k2, f), func(d *sgam.Difference) string {
		return fmt.Sprintf("%q.%s in %q %s %s: %s -> %s cause %s", d.Slot.Subject, d.Slot.Attribute, d.Slot.Scope, d.Slot.Member,
			textOfInterval(d.Valid), s.stretch(&d.Before), s.stretch(&d.After), s.id(d.Cause))
	})
}

// records asks for what is kept beside the facts.
func (s *surveyor) records() {
	list(s, "outcomes", false, s.t.Outcomes(s.ctx), func(o *sgam.OutcomeRecord) string {
		return fmt.Sprintf("%s %d %s %s %q %q %s %s by %q", textOf(o.Known), o.Ordinal, o.Outcome, s.id(o.Memory), o.Code, o.Pointer, o.Op,
			o.Attribute, o.Principal)
	})
	list(s, "rejected", false, s.t.Outcomes(s.ctx, sgam.Rejected, sgam.Declined), func(o *sgam.OutcomeRecord) string {
		return fmt.Sprintf("%s %d", textOf(o.Known), o.Ordinal)
	})
	list(s, "held", false, s.t.Held(s.ctx), func(h *sgam.HeldCandidate) string {
		text, err := json.Marshal(h.Delta)
		if err != nil {
			s.broken(err)
		}
		return fmt.Sprintf("%s %s %s by %q known %s lost to [%s]", h.Status, s.id(h.Memory), text, h.Principal, textOf(h.Known), s.ids(h.LostTo))
	})
	list(s, "pending", false, s.t.Held(s.ctx, sgam.Pending), func(h *sgam.HeldCandidate) string { return s.id(h.Memory) })
	for _, name := range s.episodes[s.t.Name()] {
		e, err := s.t.Episode(s.ctx, name)
		if err != nil {
			s.say("episode %q: %s", name, s.point(sgam.Fact{}, err))
			continue
		}
		s.say("episode %q: %s %q %s %q", e.ID, e.Kind, e.SourceID, textOf(e.OccurredAt), e.Text)
	}
	for err := range s.t.Verify(s.ctx) {
		s.broken(err)
	}
}
