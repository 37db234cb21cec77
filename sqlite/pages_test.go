//go:build cgo

package sqlite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
)

// story tells a ledger enough that every query has several rows.
func story(t *testing.T) (*store, *sgam.Tenant) {
	t.Helper()
	ctx := context.Background()
	l := open(t, newPath(t), nil)
	acme := tenant(t, l, "acme").As("agent-7")
	apply := func(d sgam.MemoryDelta) {
		_, err := acme.Apply(ctx, d)
		require.NoError(t, err)
	}
	for i := range 7 {
		apply(assert("mira", "deadline", fmt.Sprint(i%3), day(20-2*i)).From(message(fmt.Sprint("d", i), day(1))))
		apply(assert("mira", "allergy", fmt.Sprint("nut", i), day(1+i)).From(message(fmt.Sprint("a", i), day(1))))
		apply(assert(fmt.Sprint("s", i), "deadline", "x", day(1)).From(message(fmt.Sprint("s", i), day(1))))
		apply(assert("mira", "consent", fmt.Sprint(i), day(1)).From(message(fmt.Sprint("c", i), day(1))))
		scoped := assert("mira", "deadline", "y", day(1)).From(message(fmt.Sprint("p", i), day(1)))
		scoped.Scope = sgam.Scope(fmt.Sprint("scope", i))
		apply(scoped)
	}
	for i := range 4 {
		from, to := day(9), day(25)
		d := assert("mira", "deadline", fmt.Sprint("c", i), from).From(message(fmt.Sprint("f", i), day(1)))
		d.Op, d.ValidTo = sgam.Correct, &to
		apply(d)
	}
	end := day(5)
	apply(sgam.MemoryDelta{Op: sgam.End, Subject: "mira", Attribute: "allergy", ValidFrom: &end}.From(message("end", day(5))))
	// A late statement about the set bounds a member that it does not name; taking it back reaches that member.
	none := day(3)
	void := sgam.MemoryDelta{Op: sgam.End, Subject: "mira", Attribute: "allergy", ValidFrom: &none}.From(message("none", day(3)))
	r, err := acme.Apply(ctx, void)
	require.NoError(t, err)
	late := assert("mira", "allergy", "late", day(2)).From(message("late", day(2)))
	apply(late)
	_, err = acme.Withdraw(ctx, sgam.Withdrawal{Memory: r.Memory})
	require.NoError(t, err)
	return storeOf(t, l), acme
}

// texts of an answer's items, whatever they are.
func items(t *testing.T, p *sgam.Page) []string {
	t.Helper()
	var all []string
	add := func(item any) {
		text, err := json.Marshal(item)
		require.NoError(t, err)
		all = append(all, string(text))
	}
	for i := range p.Rows {
		add(p.Rows[i])
	}
	for i := range p.Slots {
		add(p.Slots[i])
	}
	for i := range p.Outcomes {
		add(p.Outcomes[i])
	}
	for i := range p.Candidates {
		add(p.Candidates[i])
	}
	for i := range p.Dumps {
		add(p.Dumps[i])
	}
	return all
}

func TestPagesJoinToTheWhole(t *testing.T) {
	ctx := context.Background()
	s, _ := story(t)
	id := tenantID(t, s)
	deadline := sgam.SlotKey{Subject: "mira", Attribute: 1}
	valid, err := sgam.InstantOf(day(4))
	require.NoError(t, err)
	clock, err := s.Read(ctx, id, &sgam.Query{Kind: sgam.QueryClock})
	require.NoError(t, err)
	before := clock.LastKnown - 1
	outcomes, err := s.Read(ctx, id, &sgam.Query{Kind: sgam.QueryOutcomes, Known: sgam.Forever})
	require.NoError(t, err)
	middle := sgam.Instant(outcomes.Outcomes[30].Known.UnixMicro())
	for name, q := range map[string]sgam.Query{
		"members":         {Kind: sgam.QueryMembers, Slots: []sgam.SlotKey{{Subject: "mira", Attribute: 2}}, Valid: valid, Known: sgam.Forever},
		"members of two":  {Kind: sgam.QueryMembers, Slots: []sgam.SlotKey{{Subject: "mira", Attribute: 2}, deadline}, Valid: valid, Known: before},
		"facts":           {Kind: sgam.QueryFacts, Valid: valid, Known: sgam.Forever},
		"facts, past":     {Kind: sgam.QueryFacts, Valid: valid, Known: before},
		"facts by scope":  {Kind: sgam.QueryFacts, Valid: valid, Known: sgam.Forever, Scopes: []sgam.Scope{"scope3", "", "scope1", "scope1"}},
		"facts of some":   {Kind: sgam.QueryFacts, Valid: valid, Known: sgam.Forever, Subjects: []string{"s3", "mira", "nobody", "s1"}},
		"facts by name":   {Kind: sgam.QueryFacts, Valid: valid, Known: sgam.Forever, Attributes: []sgam.AttributeID{2}},
		"timeline":        {Kind: sgam.QueryTimeline, Slots: []sgam.SlotKey{deadline}, Known: sgam.Forever},
		"timeline, past":  {Kind: sgam.QueryTimeline, Slots: []sgam.SlotKey{deadline}, Known: middle},
		"believed":        {Kind: sgam.QueryBelieved, Slots: []sgam.SlotKey{deadline}, Valid: valid + 86_400_000_000*6, Known: sgam.Forever},
		"history":         {Kind: sgam.QueryHistory, Slots: []sgam.SlotKey{deadline}, Known: sgam.Forever},
		"touched":         {Kind: sgam.QueryTouched, Since: sgam.Beginning, Known: sgam.Forever},
		"touched by some": {Kind: sgam.QueryTouched, Since: sgam.Beginning, Known: sgam.Forever, Subjects: []string{"mira"}, Scopes: []sgam.Scope{""}},
		"touched at last": {Kind: sgam.QueryTouched, Since: before, Known: sgam.Forever},
		"outcomes":        {Kind: sgam.QueryOutcomes, Known: sgam.Forever},
		"some outcomes":   {Kind: sgam.QueryOutcomes, Known: sgam.Forever, Statuses: []sgam.Outcome{sgam.Pending}},
		"candidates":      {Kind: sgam.QueryCandidates, Known: sgam.Forever},
		"ledger":          {Kind: sgam.QueryLedger, Known: sgam.Forever},
	} {
		t.Run(name, func(t *testing.T) {
			whole, err := s.Read(ctx, id, &q)
			require.NoError(t, err)
			require.Empty(t, whole.Next)
			want := items(t, whole)
			require.Greater(t, len(want), 2, "there is something to page through")
			for _, limit := range []int{1, 2, 3} {
				var got []string
				turns := 0
				for next := q; ; turns++ {
					next.Limit = limit
					page, err := s.Read(ctx, id, &next)
					require.NoError(t, err)
					require.LessOrEqual(t, len(items(t, page)), limit)
					got = append(got, items(t, page)...)
					if page.Next == "" {
						break
					}
					next.After = page.Next
					require.Less(t, turns, 200)
				}
				require.Equal(t, want, got, "pages of %d", limit)
			}
		})
	}
}

func TestASlotThatACallReachesWithoutAFactIsTouched(t *testing.T) {
	ctx := context.Background()
	s, acme := story(t)
	id := tenantID(t, s)
	clock, err := s.Read(ctx, id, &sgam.Query{Kind: sgam.QueryClock})
	require.NoError(t, err)
	page, err := s.Read(ctx, id, &sgam.Query{Kind: sgam.QueryTouched, Since: clock.LastKnown - 1, Known: sgam.Forever})
	require.NoError(t, err)
	touched := map[sgam.SlotKey]bool{}
	for _, key := range page.Slots {
		touched[key] = true
	}
	late := map[string]bool{}
	for d, err := range acme.Diff(ctx, (clock.LastKnown - 1).Time(), clock.LastKnown.Time(), sgam.Filter{}) {
		require.NoError(t, err)
		late[string(d.Slot.Member)] = true
	}
	require.True(t, late[`"late"`], "the member whose bound was taken away: %v", late)
	require.Greater(t, len(touched), len(late)-1)
}

func TestACursorOfSomethingElseIsRefused(t *testing.T) {
	ctx := context.Background()
	s, _ := story(t)
	id := tenantID(t, s)
	for _, kind := range []sgam.QueryKind{sgam.QueryMembers, sgam.QueryFacts, sgam.QueryTimeline, sgam.QueryBelieved, sgam.QueryHistory,
		sgam.QueryTouched, sgam.QueryOutcomes, sgam.QueryCandidates, sgam.QueryLedger} {
		for _, after := range []string{"nonsense", "1.2.3.4.5.6.7.", "x", "1.xzz.", "."} {
			_, err := s.Read(ctx, id, &sgam.Query{Kind: kind, Slots: []sgam.SlotKey{{Subject: "mira", Attribute: 1}}, Known: sgam.Forever, After: after})
			fault, ok := errors.AsType[*sgam.FieldError](err)
			require.True(t, ok, "%d %q: %v", kind, after, err)
			require.Equal(t, "after", fault.Field)
		}
	}
	_, err := s.Read(ctx, id, &sgam.Query{Kind: 99})
	require.ErrorIs(t, err, sgam.ErrUnsupported)
	require.ErrorContains(t, err, "sqlite")
}

func TestAReadThatIsCancelledGivesItsConnectionBack(t *testing.T) {
	s, _ := story(t)
	id := tenantID(t, s)
	for n := range int64(40) {
		ctx := &countdown{Context: context.Background()}
		ctx.left.Store(n)
		_, err := s.Read(ctx, id, &sgam.Query{Kind: sgam.QueryLedger, Known: sgam.Forever})
		require.ErrorIs(t, err, context.Canceled)
	}
	_, err := s.Read(context.Background(), id, &sgam.Query{Kind: sgam.QueryLedger, Known: sgam.Forever})
	require.NoError(t, err)
	require.LessOrEqual(t, len(s.readers.free), 1, "one connection was enough for all")
	require.Equal(t, cap(s.readers.free), len(s.readers.free)+len(s.readers.room), "none is lost")
}

func TestReadersWaitForAConnectionAsLongAsTheyWant(t *testing.T) {
	s, _ := story(t)
	ctx := context.Background()
	id := tenantID(t, s)
	var taken []*conn
	for range cap(s.readers.free) {
		c, err := s.readers.take(ctx)
		require.NoError(t, err)
		taken = append(taken, c)
	}
	short, cancel := context.WithTimeout(ctx, time.Millisecond)
	defer cancel()
	_, err := s.Read(short, id, &sgam.Query{Kind: sgam.QueryClock})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	for _, c := range taken {
		require.NoError(t, s.readers.give(c, nil))
	}
	_, err = s.Read(ctx, id, &sgam.Query{Kind: sgam.QueryClock})
	require.NoError(t, err)
}
