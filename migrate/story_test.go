package migrate_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/migrate"
	"github.com/sgam-ledger/sgam/schema"
)

func TestG18AMigrationIsOneReleasePlan(t *testing.T) {
	for _, e := range everywhere() {
		t.Run(e.name, func(t *testing.T) {
			w := newWorld(t, e)
			w.fill(100)
			w.say("mira", "profile", `{"name":"Mira","level":"3"}`, 1)
			w.register(lens2)

			_, err := migrate.Draw(t.Context(), w.Ledger, migrate.Options{Type: "contact"})
			require.ErrorIs(t, err, migrate.ErrNoDeletionRule)
			missing, ok := errors.AsType[*migrate.DeletionRuleError](err)
			require.True(t, ok)
			require.Equal(t, []string{"fax"}, missing.Attributes)

			plan := w.draw(func(o *migrate.Options) { o.Deletions = map[string]schema.Disposition{"fax": schema.Erase} })
			w.begin(plan)

			// In the window records of both versions are written, and read in either shape.
			w.say("bob", "profile", `{"full_name":"Bob","level":4}`, 2)
			w.say("eve", "profile", `{"name":"Eve","level":"5"}`, 1)
			both := func() {
				t.Helper()
				v1, v2 := w.tenant.Current().AtVersion("contact", 1), w.tenant.Current().AtVersion("contact", 2)
				for subject, want := range map[string][2]string{
					"mira": {`{"level":"3","name":"Mira"}`, `{"full_name":"Mira","level":3}`},
					"bob":  {`{"level":"4","name":"Bob"}`, `{"full_name":"Bob","level":4}`},
					"eve":  {`{"level":"5","name":"Eve"}`, `{"full_name":"Eve","level":5}`},
				} {
					require.JSONEq(t, want[0], string(w.get(v1, subject, "profile").Value))
					require.JSONEq(t, want[1], string(w.get(v2, subject, "profile").Value))
				}
			}
			both()
			w.run(plan)
			both()
			w.verify()
			w.cutover()
			both()
			require.Equal(t, 2, w.get(w.tenant.Current(), "mira", "profile").SchemaVersion)

			// Deletion runs through whoever is named for it, by the plan's rule.
			require.ErrorIs(t, migrate.Contract(t.Context(), w.Ledger, target, nil), migrate.ErrNoDeleter)
			require.Equal(t, migrate.CutOver, w.standing().State)
			var told []string
			require.NoError(t, migrate.Contract(t.Context(), w.Ledger, target, deleter(func(attribute string, rule schema.Disposition) error {
				told = append(told, attribute+" "+string(rule))
				return nil
			})))
			require.Equal(t, []string{"fax erase"}, told)
			require.Equal(t, migrate.Done, w.standing().State)
			both()

			// The window is over: the old version is not written any more.
			require.Equal(t, sgam.Rejected, w.try("bob", "profile", `{"name":"Bob"}`, 1).Outcome)
			w.say("bob", "profile", `{"full_name":"Bobby"}`, 2)
		})
	}
}

func TestG18AnUnmigratedRecordIsAnExplicitError(t *testing.T) {
	for _, e := range everywhere() {
		t.Run(e.name, func(t *testing.T) {
			w := newWorld(t, e)
			w.say("mira", "profile", `{"name":"Mira","level":"high"}`, 1)
			w.say("bob", "profile", `{"name":"Bob"}`, 1)
			w.register(lens2)

			// The plan that refuses a quarantine stops before the cut-over.
			refusing := w.draw()
			w.run(refusing)
			all, err := migrate.Verify(t.Context(), w.Ledger, target)
			require.ErrorIs(t, err, migrate.ErrFindings)
			require.Equal(t, int64(1), all[0].Found)
			require.Equal(t, "quarantine", all[0].Findings[0].Kind)
			require.Equal(t, migrate.Dual, w.standing().State)
			require.ErrorIs(t, migrate.Cutover(t.Context(), w.Ledger, target), migrate.ErrState)
			require.NoError(t, migrate.Rollback(t.Context(), w.Ledger, target, false))

			w.run(w.draw(leave))
			w.verify()
			w.cutover()
			_, err = w.tenant.Current().Get(t.Context(), "mira", "profile")
			require.ErrorIs(t, err, sgam.ErrUnmigrated)
			require.NotErrorIs(t, err, sgam.ErrNoValue)
			require.JSONEq(t, `{"full_name":"Bob"}`, string(w.get(w.tenant.Current(), "bob", "profile").Value), "the one beside it is there")
			require.JSONEq(t, `{"level":"high","name":"Mira"}`, string(w.get(w.tenant.Current().AtVersion("contact", 1), "mira", "profile").Value))
		})
	}
}

func TestQuarantineNamesTheRuleAndNoValue(t *testing.T) {
	for _, e := range everywhere() {
		t.Run(e.name, func(t *testing.T) {
			w := newWorld(t, e)
			w.say("mira", "profile", `{"name":"Mira","level":"sesame"}`, 1)
			w.register(lens2)
			w.run(w.draw())
			n := 0
			for q, err := range w.tenant.Quarantine(t.Context(), "contact", 2) {
				require.NoError(t, err)
				n++
				assert.Equal(t, "/value/level", q.Pointer)
				assert.NotEmpty(t, q.Rule)
				assert.NotContains(t, q.Rule+q.Pointer, "sesame")
			}
			require.Equal(t, 1, n)
		})
	}
}

func TestACorrectedLensEmptiesTheQuarantine(t *testing.T) {
	for _, e := range everywhere() {
		t.Run(e.name, func(t *testing.T) {
			w := newWorld(t, e)
			w.fill(30)
			w.say("mira", "profile", `{"name":"Mira","level":"high"}`, 1)
			w.register(lens2)
			w.run(w.draw())
			require.Equal(t, int64(1), w.standing().Counts.Quarantined)
			// In the window, one more comes that has no form.
			w.say("bob", "profile", `{"name":"Bob","level":"low"}`, 1)
			require.NoError(t, migrate.Rollback(t.Context(), w.Ledger, target, false))

			w.register(lens2b)
			plan := w.draw()
			require.Equal(t, int64(2), plan.Tenants[0].Serial)
			w.run(plan)
			require.Zero(t, w.standing().Counts.Quarantined)
			for q, err := range w.tenant.Quarantine(t.Context(), "contact", 2) {
				require.NoError(t, err)
				require.Zero(t, q.Fact, "the quarantine is not empty")
			}
			w.verify()
			w.cutover()
			f := w.get(w.tenant.Current(), "mira", "profile")
			require.JSONEq(t, `{"full_name":"Mira"}`, string(f.Value))
			require.True(t, f.Lossy)
		})
	}
}

func TestG23AKnownTimeBeforeTheCutOverReturnsTheOldRepresentation(t *testing.T) {
	for _, e := range everywhere() {
		t.Run(e.name, func(t *testing.T) {
			w := newWorld(t, e)
			before := w.say("mira", "profile", `{"name":"Mira","level":"3"}`, 1).Known
			w.register(lens2)
			plan := w.draw()
			w.through(plan, migrate.Done)
			old := w.get(w.tenant.KnownAt(before), "mira", "profile")
			require.Equal(t, 1, old.SchemaVersion)
			require.Equal(t, 1, old.StoredVersion)
			require.JSONEq(t, `{"level":"3","name":"Mira"}`, string(old.Value))
			now := w.get(w.tenant.Current(), "mira", "profile")
			require.Equal(t, 2, now.SchemaVersion)
			require.JSONEq(t, `{"full_name":"Mira","level":3}`, string(now.Value))
			require.Equal(t, old.ID, now.ID, "the fact is the same one")
			require.Equal(t, old.RecordedAt, now.RecordedAt)
		})
	}
}

func TestEqualValuesOfBothVersionsAreOneStatement(t *testing.T) {
	for _, e := range everywhere() {
		t.Run(e.name, func(t *testing.T) {
			w := newWorld(t, e)
			first := w.say("mira", "profile", `{"name":"Mira","level":"3"}`, 1)
			w.register(lens2)
			w.through(w.draw(), migrate.CutOver)
			again := w.say("mira", "profile", `{"full_name":"Mira","level":3}`, 2)
			require.Equal(t, sgam.Confirmed, again.Outcome)
			require.Equal(t, first.Memory, w.get(w.tenant.Current(), "mira", "profile").ID)
		})
	}
}
