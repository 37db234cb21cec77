package migrate_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/ledgertest"
	"github.com/sgam-ledger/sgam/migrate"
	"github.com/sgam-ledger/sgam/schema"
)

// dry makes a dry run, of which nothing may be seen in the ledger afterwards.
func (w *world) dry(plan *migrate.Plan) map[string]migrate.AttributeReport {
	w.Helper()
	report := w.report(plan)
	by := map[string]migrate.AttributeReport{}
	for _, a := range report.Attributes {
		by[a.Attribute] = a
	}
	return by
}

func (w *world) report(plan *migrate.Plan) migrate.TenantReport {
	w.Helper()
	wrote := func() error { return errPlanned }
	w.faulty.AtWrite(1, ledgertest.Fault{When: ledgertest.BeforeCall, Do: wrote})
	report, err := migrate.DryRun(w.Context(), w.Ledger, plan)
	require.NoError(w, err)
	require.ErrorIs(w, w.tenant.Record(w.Context(), sgam.Episode{ID: "x", Kind: sgam.Message, OccurredAt: dayOne}), errPlanned,
		"the first write after the dry run is ours")
	require.Len(w, report.Tenants, 1)
	return report.Tenants[0]
}

func TestG19ADryRunListsWhatBecomesUnrecallable(t *testing.T) {
	for _, e := range everywhere() {
		t.Run(e.name, func(t *testing.T) {
			w := newWorld(t, e)
			w.fill(50)
			w.say("mira", "profile", `{"name":"Mira","level":"high"}`, 1)
			w.say("bob", "profile", `{"name":"Bob","level":"low"}`, 1)
			w.register(lens2)
			plan := w.draw(func(o *migrate.Options) { o.Deletions = map[string]schema.Disposition{"fax": schema.Erase} })
			report := w.report(plan)
			require.Equal(t, []migrate.Unrecallable{
				{Attribute: "fax", Rule: schema.Erase, Removed: 10}, {Attribute: "profile", NoForm: 2},
			}, report.Unrecallable)
			profile := w.dry(plan)["profile"]
			require.Len(t, profile.Reasons, 1)
			require.Equal(t, "/value/level", profile.Reasons[0].Pointer)
			require.Equal(t, int64(2), profile.Reasons[0].Facts)
		})
	}
}

func TestG19ADryRunListsWhatIsNewlyRejected(t *testing.T) {
	for _, e := range everywhere() {
		t.Run(e.name, func(t *testing.T) {
			w := newWorld(t, e)
			w.fill(10)
			long := w.say("mira", "nickname", `"far too long a name"`, 1)
			require.Equal(t, sgam.Pending, long.Outcome)
			w.say("mira", "nickname", `"short"`, 1)
			w.register(lens2)
			report := w.report(w.draw())
			require.Len(t, report.Rejected, 1)
			require.Equal(t, long.Memory, report.Rejected[0].Memory)
			require.Equal(t, "nickname", report.Rejected[0].Attribute)
			require.Equal(t, "/value", report.Rejected[0].Pointer)
		})
	}
}

func TestG19ADryRunListsWhatChangesACurrentAnswer(t *testing.T) {
	for _, e := range everywhere() {
		t.Run(e.name, func(t *testing.T) {
			w := newWorld(t, e)
			w.say("mira", "profile", `{"name":"Mira","level":"1"}`, 1) // is over soon
			w.say("mira", "profile", `{"name":"Mira"}`, 1)
			bob := w.say("bob", "profile", `{"name":"Bob","level":"1"}`, 1)
			agent := w.delta("eve", "profile", `{"name":"Eve","level":"2"}`, 1)
			agent.Scope = "agent-7"
			eve, err := w.tenant.Apply(t.Context(), agent)
			require.NoError(t, err)
			w.register(lens2b) // drops the level
			profile := w.dry(w.draw())["profile"]
			require.Equal(t, int64(3), profile.Lossy, "of all facts")
			require.Equal(t, int64(2), profile.Current.Lossy, "of those that hold now, in every scope")
			require.ElementsMatch(t, []sgam.MemoryID{bob.Memory, eve.Memory}, profile.Current.Memories)
		})
	}
}

func TestExamplesAreMaskedBySensitivity(t *testing.T) {
	w := newWorld(t, inMemory)
	for i := range 9 {
		w.say(fmt.Sprint(i), "profile", fmt.Sprintf(`{"name":"secret name %d","level":"7"}`, i), 1) // personal
		w.say(fmt.Sprint(i), "phone", fmt.Sprintf(`{"number":"%d","label":"home"}`, i), 1)          // internal
	}
	w.register(lens2)
	report := w.dry(w.draw())
	require.Len(t, report["profile"].Examples, 5)
	for _, e := range report["profile"].Examples {
		require.True(t, e.Masked)
		require.JSONEq(t, `{"name":"string","level":"string"}`, string(e.Before))
		require.JSONEq(t, `{"full_name":"string","level":"number"}`, string(e.After))
	}
	phone := report["phone"].Examples[0]
	require.False(t, phone.Masked)
	require.JSONEq(t, `{"number":"8","label":"home"}`, string(phone.Before))
	require.JSONEq(t, `{"number":"8","kind":"home"}`, string(phone.After))
	text, err := json.Marshal(report)
	require.NoError(t, err)
	assert.NotContains(t, string(text), "secret name")
}

func TestADefaultedConversionIsToldAsOne(t *testing.T) {
	l := types(t,
		one+`,"schema":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}}]}`, `{"a":"x"}`,
		two+`,"schema":{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string","default":"?"}},"required":["a","b"]}}]}`,
		`{"type":"thing","version":2,"attributes":[{"tag":1,"ops":[{"op":"add","prop":"b","default":"?"}]}]}`)
	plan, err := migrate.Draw(t.Context(), l, migrate.Options{Type: "thing"})
	require.NoError(t, err)
	report, err := migrate.DryRun(t.Context(), l, plan)
	require.NoError(t, err)
	a := report.Tenants[0].Attributes[0]
	require.Equal(t, int64(1), a.Defaulted)
	require.Equal(t, int64(1), a.Current.Defaulted)
	require.JSONEq(t, `{"a":"x","b":"?"}`, string(a.Examples[0].After))

	// The way back from a form that was filled is no round trip, and no finding.
	require.NoError(t, migrate.Run(t.Context(), l, plan, nil))
	all, err := migrate.Verify(t.Context(), l, plan.Target(""))
	require.NoError(t, err)
	require.Zero(t, all[0].Attributes[0].RoundTrips)
	require.NoError(t, migrate.Cutover(t.Context(), l, plan.Target("")))
	tenant, err := l.Tenant("acme")
	require.NoError(t, err)
	f, err := tenant.Current().Get(t.Context(), "s", "thing_a")
	require.NoError(t, err)
	require.Equal(t, []string{"/b"}, f.Defaulted)
	require.NoError(t, migrate.Rollback(t.Context(), l, plan.Target(""), false), "what was recorded before has its old form as it was")
}
