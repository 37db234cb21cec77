package migrate_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/ledgertest"
	"github.com/sgam-ledger/sgam/migrate"
	"github.com/sgam-ledger/sgam/schema"
)

func TestAPlanSaysWhatWillBeDone(t *testing.T) {
	for _, e := range everywhere() {
		t.Run(e.name, func(t *testing.T) {
			w := newWorld(t, e)
			w.fill(100)
			w.say("mira", "profile", `{"name":"Mira","level":"high"}`, 1)
			w.register(lens2)
			plan := w.draw(func(o *migrate.Options) { o.Clock = w.clock.Now })
			require.Equal(t, [2]int{1, 2}, [2]int{plan.From, plan.To})
			require.Len(t, plan.Steps, 1)
			require.NotEmpty(t, plan.Steps[0].Lens)
			rules := map[string]bool{}
			for _, c := range plan.Steps[0].Changes {
				rules[c.Rule] = true
			}
			for _, rule := range []string{"SC02", "SC03", "SC12"} {
				assert.True(t, rules[rule], "%s in %v", rule, rules)
			}
			require.Len(t, plan.Tenants, 1)
			counts := map[string]migrate.Prediction{}
			for _, p := range plan.Tenants[0].Attributes {
				counts[p.Attribute] = p
			}
			require.Equal(t, map[string]migrate.Prediction{
				"profile": {Attribute: "profile", Facts: 21, Convert: 21, Quarantine: 1},
				"phone":   {Attribute: "phone", Facts: 40, Convert: 40},
				"status":  {Attribute: "status", Facts: 20, Convert: 20},
				"fax":     {Attribute: "fax", Facts: 20, Removed: 20},
			}, counts)
			estimate := plan.Tenants[0].Estimate
			require.Equal(t, int64(80), estimate.Rows)
			require.Greater(t, estimate.Bytes, 80*int64(len(plan.Steps[0].Lens)))
			require.Positive(t, estimate.Seconds)
			require.Empty(t, plan.Indexes)

			// What came true is what was predicted.
			w.run(plan)
			m := w.standing()
			require.Equal(t, migrate.Counts{Looked: 101, Converted: 80, Removed: 20, Quarantined: 1}, m.Counts)
		})
	}
}

func TestAPlanFileIsReadBackAsItWasWritten(t *testing.T) {
	w := newWorld(t, inMemory)
	w.fill(20)
	w.register(lens2)
	plan := w.draw()
	text, err := plan.Encode()
	require.NoError(t, err)
	read, err := migrate.Parse(text)
	require.NoError(t, err)
	again, err := read.Encode()
	require.NoError(t, err)
	require.Equal(t, string(text), string(again))

	var small bytes.Buffer
	require.NoError(t, json.Compact(&small, text))
	_, err = migrate.Parse(small.Bytes())
	require.NoError(t, err, "white space is no content")

	_, err = migrate.Parse([]byte(strings.Replace(string(text), "keep_readable", "erase", 1)))
	require.ErrorIs(t, err, migrate.ErrPlanDigest)
	for _, broken := range []string{"", "{", `{"digest":"x"}`, string(text) + "{}", strings.Replace(string(text), `"digest"`, `"digests"`, 1)} {
		_, err := migrate.Parse([]byte(broken))
		require.Error(t, err)
	}
	require.NoError(t, migrate.Run(t.Context(), w.Ledger, read, nil), "a plan from a file can be run")
}

func TestAStalePlanIsRefused(t *testing.T) {
	for _, e := range everywhere() {
		t.Run(e.name, func(t *testing.T) {
			for name, c := range map[string]struct {
				move func(w *world)
				what string
			}{
				"another lens":        {func(w *world) { w.register(lens2b) }, "lens into version 2"},
				"another migration":   {func(w *world) { w.through(w.draw(leave), migrate.Dual) }, "migration"},
				"one rolled back":     {func(w *world) { w.through(w.draw(leave), migrate.RolledBack) }, "migration"},
				"one that came ahead": {func(w *world) { w.through(w.draw(leave), migrate.Done) }, "migration"},
			} {
				t.Run(name, func(t *testing.T) {
					w := newWorld(t, e)
					w.fill(20)
					w.register(lens2)
					plan := w.draw()
					_, err := migrate.DryRun(t.Context(), w.Ledger, plan)
					require.NoError(t, err)
					c.move(w)
					before := w.standingOrNone()
					for _, err := range []error{
						migrate.Run(t.Context(), w.Ledger, plan, nil),
						func() error { _, err := migrate.DryRun(t.Context(), w.Ledger, plan); return err }(),
					} {
						stale, ok := errors.AsType[*migrate.StaleError](err)
						require.True(t, ok, "%v", err)
						require.ErrorIs(t, err, migrate.ErrPlanStale)
						require.Contains(t, []string{c.what, "epoch"}, stale.What)
					}
					require.Equal(t, before, w.standingOrNone())
				})
			}
		})
	}
}

func (w *world) standingOrNone() []migrate.Migration {
	w.Helper()
	all, err := migrate.Status(w.Context(), w.Ledger)
	require.NoError(w, err)
	return all
}

func TestAPlanOfAnotherLedgerIsStale(t *testing.T) {
	a, b := newWorld(t, inMemory), newWorld(t, inMemory)
	a.fill(20)
	b.fill(20)
	a.register(lens2)
	b.register(lens2b)
	require.ErrorIs(t, migrate.Run(t.Context(), b.Ledger, a.draw(), nil), migrate.ErrPlanStale)
	c := newWorld(t, inMemory)
	require.ErrorIs(t, migrate.Run(t.Context(), c.Ledger, a.draw(), nil), migrate.ErrPlanStale, "it does not even have the version")
}

// types opens a ledger with one memory type, makes a statement, and registers the next version.
func types(t *testing.T, one, value, two, lens string) *sgam.Ledger {
	t.Helper()
	first := schema.NewRegistry()
	_, err := first.Add([]byte(one))
	require.NoError(t, err)
	l := ledgertest.NewLedger(t, &sgam.Options{Schemas: lenient{first}})
	tenant, err := l.Tenant("acme")
	require.NoError(t, err)
	r, err := tenant.Apply(t.Context(), sgam.MemoryDelta{Op: sgam.Assert, Subject: "s", Attribute: "thing_a", Value: json.RawMessage(value)}.
		From(sgam.Episode{ID: "e", Kind: sgam.Message, OccurredAt: dayOne}))
	require.NoError(t, err)
	require.NoError(t, r.Err())
	_, err = first.Add([]byte(two))
	require.NoError(t, err)
	if lens != "" {
		require.NoError(t, first.AddLens([]byte(lens)))
	}
	docs, err := first.Declared()
	require.NoError(t, err)
	require.NoError(t, l.Register(t.Context(), docs[1]))
	return l
}

const one = `{"type":"thing","version":1,"attributes":[{"tag":1,"name":"thing_a"`
const two = `{"type":"thing","version":2,"attributes":[{"tag":1,"name":"thing_a"`

func TestWhatNoMigrationMayChangeIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		from, to, lens, value string
		want                  error
		rule                  string
	}{
		"cardinality up": {
			from: `,"schema":{"type":"string"}}]}`, to: `,"cardinality":"many","schema":{"type":"string"}}]}`,
			value: `"x"`, want: migrate.ErrNewAttribute, rule: "SC31",
		},
		"cardinality down": {
			from: `,"cardinality":"many","schema":{"type":"string"}}]}`, to: `,"schema":{"type":"string"}}]}`,
			value: `"x"`, want: migrate.ErrNewAttribute, rule: "SC32",
		},
		"identity": {
			from:  `,"cardinality":"many","key":"/a","schema":{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"required":["a","b"]}}]}`,
			to:    `,"cardinality":"many","key":"/b","schema":{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"required":["a","b"]}}]}`,
			value: `{"a":"1","b":"2"}`, want: migrate.ErrNewAttribute, rule: "SC33",
		},
		"removed and not reserved": {
			from: `,"schema":{"type":"string"}},{"tag":2,"name":"thing_b","schema":{"type":"string"}}]}`, to: `,"schema":{"type":"string","maxLength":3}}]}`,
			value: `"x"`, want: migrate.ErrRefused, rule: "SC04",
		},
		"sensitivity lowered": {
			from: `,"sensitivity":"special","schema":{"type":"string"}}]}`, to: `,"sensitivity":"internal","schema":{"type":"string","maxLength":3}}]}`,
			value: `"x"`, want: migrate.ErrRefused, rule: "SC36",
		},
		"a required property that nobody fills": {
			from:  `,"schema":{"type":"object","properties":{"a":{"type":"string"}}}}]}`,
			to:    `,"schema":{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"required":["b"]}}]}`,
			value: `{"a":"1"}`, want: migrate.ErrRefused, rule: "SC23",
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := types(t, one+c.from, c.value, two+c.to, c.lens)
			_, err := migrate.Draw(t.Context(), l, migrate.Options{Type: "thing"})
			refused, ok := errors.AsType[*migrate.RefusedError](err)
			require.True(t, ok, "%v", err)
			require.ErrorIs(t, err, c.want)
			require.Equal(t, c.rule, refused.Changes[0].Rule)
			require.NotEmpty(t, refused.Changes[0].Advice)
		})
	}
}

func TestADeclassificationIsInTheDocument(t *testing.T) {
	const from, to = one + `,"sensitivity":"special","schema":{"type":"string"}}]}`, two + `,"sensitivity":"internal"%s,"schema":{"type":"string","maxLength":3}}]}`
	_, err := migrate.Draw(t.Context(), types(t, from, `"x"`, fmt.Sprintf(to, ""), ""), migrate.Options{Type: "thing"})
	require.ErrorIs(t, err, migrate.ErrRefused)
	l := types(t, from, `"x"`, fmt.Sprintf(to, `,"declassified":{"actor":"ann","reason":"published"}`), "")
	plan, err := migrate.Draw(t.Context(), l, migrate.Options{Type: "thing"})
	require.NoError(t, err)
	report, err := migrate.DryRun(t.Context(), l, plan)
	require.NoError(t, err)
	require.Zero(t, report.Quarantine())
}

func TestVersionsOfOneShapeNeedNoMigration(t *testing.T) {
	l := types(t, one+`,"schema":{"type":"string"}}]}`, `"x"`, two+`,"schema":{"type":"string"}},{"tag":2,"name":"thing_b","schema":{"type":"string"}}]}`, "")
	_, err := migrate.Draw(t.Context(), l, migrate.Options{Type: "thing"})
	require.ErrorIs(t, err, migrate.ErrSameShape)
	_, err = migrate.Draw(t.Context(), l, migrate.Options{Type: "thing", From: 1, To: 2})
	require.ErrorIs(t, err, migrate.ErrSameShape)
}

func TestOptionsThatMakeNoSenseAreRefused(t *testing.T) {
	w := newWorld(t, inMemory)
	_, err := migrate.Draw(t.Context(), w.Ledger, migrate.Options{Type: "contact"})
	require.ErrorIs(t, err, migrate.ErrNothing)
	w.fill(10)
	w.register(lens2)
	for name, opts := range map[string]migrate.Options{
		"an unknown type":                {Type: "contract", Deletions: keepFax},
		"an unknown version":             {Type: "contact", To: 3, Deletions: keepFax},
		"a way back":                     {Type: "contact", From: 2, To: 1, Deletions: keepFax},
		"an unknown quarantine policy":   {Type: "contact", Quarantine: "ignore", Deletions: keepFax},
		"an unknown deletion rule":       {Type: "contact", Deletions: map[string]schema.Disposition{"fax": "burn"}},
		"a rule for what is not removed": {Type: "contact", Deletions: map[string]schema.Disposition{"fax": schema.Erase, "phone": schema.Erase}},
	} {
		_, err := migrate.Draw(t.Context(), w.Ledger, opts)
		_, ok := errors.AsType[*sgam.FieldError](err)
		require.True(t, ok, "%s: %v", name, err)
	}
	plan := w.draw()
	for _, opts := range []migrate.RunOptions{{BatchSize: -1}, {BatchSize: 1 << 20}, {Lease: -time.Second}} {
		require.Error(t, migrate.Run(t.Context(), w.Ledger, plan, &opts))
	}
	require.Empty(t, w.standingOrNone())
}

func TestTenantsThatCannotComeAlongAreNamed(t *testing.T) {
	w := newWorld(t, inMemory)
	w.fill(10)
	for _, name := range []string{"beta", "gamma"} {
		tenant, err := w.Tenant(name)
		require.NoError(t, err)
		r, err := tenant.Apply(t.Context(), w.delta("s", "profile", `{"name":"x"}`, 1))
		require.NoError(t, err)
		require.NoError(t, r.Err())
	}
	w.register(lens2)
	idle, err := w.Tenant("idle")
	require.NoError(t, err)
	require.NoError(t, idle.Record(t.Context(), sgam.Episode{ID: "e", Kind: sgam.Message, OccurredAt: dayOne}))
	fresh, err := w.Tenant("fresh")
	require.NoError(t, err)
	r, err := fresh.Apply(t.Context(), w.delta("s", "profile", `{"full_name":"x"}`, 2))
	require.NoError(t, err)
	require.NoError(t, r.Err())
	beta := w.draw(func(o *migrate.Options) { o.Tenants = []string{"beta"} })
	require.NoError(t, migrate.Run(t.Context(), w.Ledger, beta, nil))

	plan := w.draw()
	names := []string{}
	for _, tp := range plan.Tenants {
		names = append(names, tp.Tenant)
	}
	require.Equal(t, []string{"acme", "gamma"}, names)
	why := map[string]string{}
	for _, l := range plan.LeftOut {
		why[l.Tenant] = l.Why
	}
	require.Equal(t, map[string]string{"beta": "migration 1 is dual", "fresh": "version 2 already", "idle": "no facts of the type"}, why)

	// What fails in one tenant does not hold up the others.
	require.NoError(t, migrate.Run(t.Context(), w.Ledger, plan, nil))
	all, err := migrate.Verify(t.Context(), w.Ledger, migrate.Target{Type: "contact"})
	require.NoError(t, err)
	require.Len(t, all, 3)
	require.NoError(t, migrate.Cutover(t.Context(), w.Ledger, beta.Target("ops")))
	err = migrate.Cutover(t.Context(), w.Ledger, migrate.Target{Type: "contact", Tenants: []string{"beta", "acme", "gamma"}})
	require.ErrorIs(t, err, migrate.ErrState)
	for _, m := range w.standingOrNone() {
		require.Equal(t, migrate.CutOver, m.State, m.Tenant)
	}
}
