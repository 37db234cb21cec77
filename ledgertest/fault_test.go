package ledgertest_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/ledgertest"
)

func TestFaultsStrikeTheCallThatTheyWerePlannedFor(t *testing.T) {
	broken := errors.New("broken")
	fail := func() error { return broken }
	f := ledgertest.NewFaulty(ledgertest.NewStore(nil))
	l, err := sgam.New(t.Context(), f, &sgam.Options{Schemas: ledgertest.NewSchemas(ledgertest.Attribute{Name: "a"})})
	require.NoError(t, err)
	ledgertest.Proven(t, l)
	tenant, err := l.Tenant("t")
	require.NoError(t, err)
	apply := func(episode string) error {
		d := sgam.MemoryDelta{Op: sgam.Assert, Subject: "s", Attribute: "a", Value: []byte("1")}
		_, err := tenant.Apply(t.Context(), d.From(sgam.Episode{ID: episode, Kind: sgam.Message, OccurredAt: time.Unix(0, 0)}))
		return err
	}
	episode := func(id string) error {
		_, err := tenant.Episode(t.Context(), id)
		return err
	}
	calls := f.Calls()
	require.Positive(t, calls, "opening the ledger reads the registry")

	f.At(2, ledgertest.Fault{When: ledgertest.BeforeCall, Do: fail})
	require.NoError(t, apply("e1"))
	require.ErrorIs(t, apply("e2"), broken)
	require.ErrorIs(t, episode("e2"), sgam.ErrNotFound)
	require.Equal(t, calls+3, f.Calls())

	f.AtWrite(2, ledgertest.Fault{When: ledgertest.AtDecision, Do: fail})
	require.NoError(t, apply("e3"))
	require.NoError(t, episode("e3"))
	require.ErrorIs(t, apply("e4"), broken)
	require.ErrorIs(t, episode("e4"), sgam.ErrNotFound)

	f.AtWrite(1, ledgertest.Fault{When: ledgertest.AfterCall, Do: fail})
	require.ErrorIs(t, apply("e5"), broken)
	require.NoError(t, episode("e5"), "what strikes afterwards strikes too late")

	f.At(1, ledgertest.Fault{When: ledgertest.AfterCall, Do: fail})
	require.ErrorIs(t, episode("e5"), broken)
	f.At(1, ledgertest.Fault{When: ledgertest.AtDecision, Do: fail})
	require.NoError(t, episode("e5"), "a read decides nothing")
	f.At(1, ledgertest.Fault{})
	require.NoError(t, episode("e5"), "a fault that does nothing")
}

func TestTheStoreRefusesWhatTheLayersDoNotAllow(t *testing.T) {
	for name, spoil := range map[string]func(*sgam.Change){
		"a known time that stands still":    func(c *sgam.Change) { c.Known = sgam.Beginning },
		"a fact number that is not next":    func(c *sgam.Change) { c.Facts[0].Number++ },
		"a memory id of nothing":            func(c *sgam.Change) { c.Facts[0].ID = sgam.MemoryID{} },
		"a fact of another time":            func(c *sgam.Change) { c.Facts[0].KnownAt-- },
		"a fact without an episode":         func(c *sgam.Change) { c.Facts[0].Episode = "nobody" },
		"a value without a number":          func(c *sgam.Change) { c.Facts[0].Value = 0 },
		"a reach of nothing":                func(c *sgam.Change) { c.Facts[0].Reach.To = c.Facts[0].Reach.From },
		"a reference to the future":         func(c *sgam.Change) { c.Facts[0].Supersedes = 99 },
		"a segment closed that is not open": func(c *sgam.Change) { c.Closed[0].KnownFrom-- },
		"a segment closed twice":            func(c *sgam.Change) { c.Closed = append(c.Closed, c.Closed[0]) },
		"a segment closed by nobody":        func(c *sgam.Change) { c.Closed[0].ClosedBy = 99 },
		"a segment never closed":            func(c *sgam.Change) { c.Closed = nil },
		"an empty segment":                  func(c *sgam.Change) { c.Opened[0].Valid.To = c.Opened[0].Valid.From },
		"a segment of nobody":               func(c *sgam.Change) { c.Opened[0].Fact = 99 },
		"a segment of another slot":         func(c *sgam.Change) { c.Opened[0].Slot.Subject = "other" },
		"two segments at one instant":       func(c *sgam.Change) { c.Opened = append(c.Opened, c.Opened[0]) },
		"an empty displaced region":         func(c *sgam.Change) { c.Superseded[0].Valid.To = c.Superseded[0].Valid.From },
		"a displaced fact of nowhere":       func(c *sgam.Change) { c.Superseded[0].Old = 99 },
		"a point of fewer than none":        func(c *sgam.Change) { c.Points[0].Delta = -1 },
		"a value number that no fact has":   func(c *sgam.Change) { c.Numbers[0].Number = 99 },
		"an episode twice":                  func(c *sgam.Change) { c.Episodes[0].ID = "e1" },
		"an episode without a digest":       func(c *sgam.Change) { c.Digests = nil },
		"a key twice":                       func(c *sgam.Change) { c.Outcomes = append(c.Outcomes, c.Outcomes[0]) },
		"an outcome of no fact":             func(c *sgam.Change) { c.Outcomes[0].Fact = 99 },
		"a candidate of nobody settled":     func(c *sgam.Change) { c.Settled = []sgam.SettledCandidate{{Memory: sgam.MemoryID{1}}} },
		"a candidate without an episode":    func(c *sgam.Change) { c.Candidates = []sgam.NewCandidate{{Episode: "nobody"}} },
		"an empty confirmation": func(c *sgam.Change) {
			c.Confirmed = []sgam.Confirmation{{Slot: c.Facts[0].Slot, New: c.Facts[0].Number, Old: c.Facts[0].Number}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			spoiler := &spoiled{Store: ledgertest.NewStore(nil)}
			l, err := sgam.New(t.Context(), spoiler, &sgam.Options{Schemas: ledgertest.NewSchemas(ledgertest.Attribute{Name: "a"})})
			require.NoError(t, err)
			ledgertest.Proven(t, l)
			tenant, err := l.Tenant("t")
			require.NoError(t, err)
			say := func(value, episode string) error {
				d := sgam.MemoryDelta{Op: sgam.Assert, Subject: "s", Attribute: "a", Value: []byte(value)}
				_, err := tenant.Apply(t.Context(), d.From(sgam.Episode{ID: episode, Kind: sgam.Message, OccurredAt: time.Unix(0, 0)}))
				return err
			}
			require.NoError(t, say("1", "e1"))
			spoiler.spoil = spoil
			require.ErrorContains(t, say("2", "e2"), "breaks the rules of the layers")
			spoiler.spoil = nil
			f, err := tenant.Current().Get(t.Context(), "s", "a")
			require.NoError(t, err)
			require.JSONEq(t, "1", string(f.Value))
			require.NoError(t, say("2", "e2"))
		})
	}
}

// spoiled is an engine to which changes come spoiled.
type spoiled struct {
	*ledgertest.Store
	spoil func(*sgam.Change)
}

func (s *spoiled) Write(ctx context.Context, t sgam.TenantID, call *sgam.Call, decide func(*sgam.Snapshot) (*sgam.Change, error)) error {
	return s.Store.Write(ctx, t, call, func(snap *sgam.Snapshot) (*sgam.Change, error) {
		c, err := decide(snap)
		if c != nil && s.spoil != nil {
			s.spoil(c)
		}
		return c, err
	})
}

func TestWhatGoesIntoAndOutOfTheStoreIsCopied(t *testing.T) {
	l := ledgertest.NewLedger(t, &sgam.Options{Schemas: ledgertest.NewSchemas(ledgertest.Attribute{Name: "a"})})
	tenant, err := l.Tenant("t")
	require.NoError(t, err)
	value, body, confidence := []byte(`"abc"`), []byte(`{"k":"abc"}`), 0.5
	d := sgam.MemoryDelta{Op: sgam.Assert, Subject: "s", Attribute: "a", Value: value, Confidence: &confidence}
	_, err = tenant.Apply(t.Context(), d.From(sgam.Episode{ID: "e", Kind: sgam.Message, OccurredAt: time.Unix(0, 0), Body: body}))
	require.NoError(t, err)
	read := func() (sgam.Fact, sgam.Episode) {
		f, err := tenant.Current().Get(t.Context(), "s", "a")
		require.NoError(t, err)
		e, err := tenant.Episode(t.Context(), "e")
		require.NoError(t, err)
		return f, e
	}
	f, e := read()
	value[1], body[6], confidence = 'x', 'x', 0.9
	f.Value[1], e.Body[6], *f.Confidence = 'y', 'y', 0.1
	f, e = read()
	require.Equal(t, `"abc"`, string(f.Value))
	require.JSONEq(t, `{"k":"abc"}`, string(e.Body))
	require.InDelta(t, 0.5, *f.Confidence, 0)
}
