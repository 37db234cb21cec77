package migrate_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam/migrate"
	"github.com/sgam-ledger/sgam/schema"
)

var everyState = []migrate.State{
	migrate.Planned, migrate.Expanding, migrate.Dual, migrate.Verified, migrate.CutOver, migrate.Contracting, migrate.Done, migrate.RolledBack,
}

// acts are the calls that move a migration, by the name that errors have for them.
var acts = map[string]func(w *world, plan *migrate.Plan) error{
	"run": func(w *world, plan *migrate.Plan) error {
		return migrate.Run(w.Context(), w.Ledger, plan, &migrate.RunOptions{Principal: "ops", Holder: "me"})
	},
	"verify": func(w *world, _ *migrate.Plan) error {
		_, err := migrate.Verify(w.Context(), w.Ledger, target)
		return err
	},
	"cutover":  func(w *world, _ *migrate.Plan) error { return migrate.Cutover(w.Context(), w.Ledger, target) },
	"rollback": func(w *world, _ *migrate.Plan) error { return migrate.Rollback(w.Context(), w.Ledger, target, false) },
	"contract": func(w *world, _ *migrate.Plan) error {
		return migrate.Contract(w.Context(), w.Ledger, target, deleter(func(string, schema.Disposition) error { return nil }))
	},
	"pause":  func(w *world, _ *migrate.Plan) error { return migrate.Pause(w.Context(), w.Ledger, target) },
	"resume": func(w *world, _ *migrate.Plan) error { return migrate.Resume(w.Context(), w.Ledger, target) },
}

// ends are where each allowed call leads. A run of what is further along changes nothing.
var ends = map[migrate.State]map[string]migrate.State{
	migrate.Planned:     {"run": migrate.Dual},
	migrate.Expanding:   {"run": migrate.Dual, "rollback": migrate.RolledBack, "pause": migrate.Expanding},
	migrate.Dual:        {"run": migrate.Dual, "verify": migrate.Verified, "rollback": migrate.RolledBack, "pause": migrate.Dual},
	migrate.Verified:    {"run": migrate.Verified, "verify": migrate.Verified, "cutover": migrate.CutOver, "rollback": migrate.RolledBack, "pause": migrate.Verified},
	migrate.CutOver:     {"run": migrate.CutOver, "contract": migrate.Done, "rollback": migrate.RolledBack, "pause": migrate.CutOver},
	migrate.Contracting: {"run": migrate.Contracting, "contract": migrate.Done, "pause": migrate.Contracting},
	migrate.Done:        {"run": migrate.Done},
	migrate.RolledBack:  {},
}

func (w *world) at(state migrate.State) *migrate.Plan {
	w.Helper()
	w.fill(30)
	w.register(lens2)
	plan := w.draw(func(o *migrate.Options) { o.Deletions = map[string]schema.Disposition{"fax": schema.Expire} })
	w.through(plan, state)
	if state != migrate.Planned {
		require.Equal(w, state, w.standing().State)
	}
	return plan
}

func TestEveryCallInEveryState(t *testing.T) {
	for _, e := range everywhere() {
		t.Run(e.name, func(t *testing.T) {
			for _, state := range everyState {
				for name, act := range acts {
					t.Run(string(state)+" "+name, func(t *testing.T) {
						w := newWorld(t, e)
						plan := w.at(state)
						err := act(w, plan)
						end, allowed := ends[state][name]
						if allowed {
							require.NoError(t, err)
							require.Equal(t, end, w.standing().State)
							return
						}
						if state == migrate.RolledBack && name == "run" {
							require.ErrorIs(t, err, migrate.ErrPlanStale)
							return
						}
						wrong, ok := errors.AsType[*migrate.StateError](err)
						require.True(t, ok, "%v", err)
						require.ErrorIs(t, err, migrate.ErrState)
						assert.Equal(t, name, wrong.Action)
						assert.Equal(t, state, wrong.State)
						for action := range ends[state] {
							assert.Contains(t, wrong.Allowed, action)
						}
						if state != migrate.Planned {
							require.Equal(t, state, w.standing().State, "nothing has happened")
						}
					})
				}
			}
		})
	}
}

func TestAPausedMigrationOnlyResumesOrRollsBack(t *testing.T) {
	for _, state := range []migrate.State{migrate.Expanding, migrate.Dual, migrate.Verified, migrate.CutOver, migrate.Contracting} {
		for name, act := range acts {
			t.Run(string(state)+" "+name, func(t *testing.T) {
				w := newWorld(t, inMemory)
				plan := w.at(state)
				require.NoError(t, migrate.Pause(t.Context(), w.Ledger, target))
				require.True(t, w.standing().Paused)
				err := act(w, plan)
				switch {
				case name == "resume":
					require.NoError(t, err)
					require.False(t, w.standing().Paused)
				case name == "rollback" && state != migrate.Contracting:
					require.NoError(t, err)
					require.Equal(t, migrate.RolledBack, w.standing().State)
				case name == "run" && state != migrate.Expanding:
					require.NoError(t, err, "nothing is left for a run")
				default:
					require.ErrorIs(t, err, migrate.ErrPaused)
					require.Equal(t, state, w.standing().State)
				}
			})
		}
	}
}

func TestEachTransitionIsRecordedWithPrincipalAndKnownTime(t *testing.T) {
	w := newWorld(t, inMemory)
	w.at(migrate.Done)
	m := w.standing()
	states := []migrate.State{}
	last := dayOne
	for _, a := range m.Audit {
		require.Equal(t, "ops", a.Principal)
		require.False(t, a.Known.Before(last))
		last = a.Known
		if n := len(states); n == 0 || states[n-1] != a.State {
			states = append(states, a.State)
		}
	}
	require.Equal(t, []migrate.State{
		migrate.Approved, migrate.Expanding, migrate.Dual, migrate.Verified, migrate.CutOver, migrate.Contracting, migrate.Done,
	}, states)
	require.NotNil(t, m.Allowed)
	require.Empty(t, m.Allowed, "nothing leads on from the end")
}

func TestRollbackIsRefusedOnceSomethingWouldBeLost(t *testing.T) {
	for _, e := range everywhere() {
		t.Run(e.name, func(t *testing.T) {
			w := newWorld(t, e)
			w.at(migrate.CutOver)
			w.say("mira", "status", `"new"`, 2)
			require.NoError(t, migrate.Rollback(t.Context(), w.Ledger, target, false), "what has a lossless form is no hindrance")

			w.through(w.draw(), migrate.CutOver)
			w.say("mira", "status", `"gone"`, 2)
			w.say("bob", "status", `"gone"`, 2)
			err := migrate.Rollback(t.Context(), w.Ledger, target, false)
			refused, ok := errors.AsType[*migrate.LossyError](err)
			require.True(t, ok, "%v", err)
			require.Equal(t, int64(2), refused.Facts)
			require.Equal(t, migrate.CutOver, w.standing().State)
			require.Equal(t, 2, w.get(w.tenant.Current(), "mira", "status").SchemaVersion)

			require.NoError(t, migrate.Rollback(t.Context(), w.Ledger, target, true))
			f := w.get(w.tenant.Current(), "mira", "status")
			require.JSONEq(t, `"old"`, string(f.Value))
			require.True(t, f.Lossy)
		})
	}
}

func TestWhatAnEarlierMigrationLostIsNotCountedAgain(t *testing.T) {
	w := newWorld(t, inMemory)
	w.at(migrate.CutOver)
	w.say("mira", "status", `"gone"`, 2) // the newest fact when the second migration begins
	require.NoError(t, migrate.Rollback(t.Context(), w.Ledger, target, true))
	w.through(w.draw(), migrate.CutOver)
	require.NoError(t, migrate.Rollback(t.Context(), w.Ledger, target, false))
}

func TestRollbackBeforeTheCutOverLosesNothingUnforced(t *testing.T) {
	w := newWorld(t, inMemory)
	w.at(migrate.Dual)
	w.say("mira", "status", `"old"`, 2)
	require.NoError(t, migrate.Rollback(t.Context(), w.Ledger, target, false), "what was written since has a form in the old version")
	w.run(w.draw())
	w.say("mira", "status", `"gone"`, 2)
	require.ErrorIs(t, migrate.Rollback(t.Context(), w.Ledger, target, false), migrate.ErrLossy)
	require.Equal(t, migrate.Dual, w.standing().State)
	require.NoError(t, migrate.Rollback(t.Context(), w.Ledger, target, true))
	require.True(t, w.get(w.tenant.Current(), "mira", "status").Lossy)
	require.JSONEq(t, `"gone"`, string(w.get(w.tenant.Current().AtVersion("contact", 2), "mira", "status").Value), "what was said is kept")
}

func TestAFailedMigrationNeverBlocks(t *testing.T) {
	for _, e := range everywhere() {
		t.Run(e.name, func(t *testing.T) {
			w := newWorld(t, e)
			w.at(migrate.Expanding)
			w.say("mira", "profile", `{"name":"Mira","level":"high"}`, 1) // has no form in the new version
			require.NoError(t, w.Close())
			w.start()
			w.say("bob", "profile", `{"name":"Bob"}`, 1)
			require.NoError(t, migrate.Rollback(t.Context(), w.Ledger, migrate.Target{Type: "contact", Principal: "ops"}, false))
			require.Equal(t, migrate.RolledBack, w.standing().State)
			w.say("mira", "profile", `{"name":"Mira","level":"higher"}`, 1)
			require.JSONEq(t, `{"level":"higher","name":"Mira"}`, string(w.get(w.tenant.Current(), "mira", "profile").Value))
		})
	}
}

func TestAFactThatCameIntoQuarantineSinceVerificationStopsTheCutOver(t *testing.T) {
	for _, e := range everywhere() {
		t.Run(e.name, func(t *testing.T) {
			w := newWorld(t, e)
			w.at(migrate.Verified)
			w.say("bob", "profile", `{"name":"Bob","level":"3"}`, 1)
			w.say("mira", "profile", `{"name":"Mira","level":"high"}`, 1)
			err := migrate.Cutover(t.Context(), w.Ledger, target)
			waiting, ok := errors.AsType[*migrate.QuarantineError](err)
			require.True(t, ok, "%v", err)
			require.Equal(t, int64(1), waiting.Facts)
			require.Equal(t, migrate.Dual, w.standing().State)
			require.Equal(t, 1, w.get(w.tenant.Current(), "mira", "profile").SchemaVersion)
			w.say("eve", "profile", `{"name":"Eve","level":"low"}`, 1)
		})
	}
}

func TestContractingGoesOnAfterAFailedDeletion(t *testing.T) {
	w := newWorld(t, inMemory)
	w.at(migrate.Contracting)
	require.ErrorIs(t, migrate.Rollback(t.Context(), w.Ledger, target, true), migrate.ErrState, "there is no way back")
	before := w.encodings()
	require.NoError(t, migrate.Contract(t.Context(), w.Ledger, target, deleter(func(string, schema.Disposition) error { return nil })))
	require.Equal(t, before, w.encodings(), "no encoding goes")
	require.NotEmpty(t, before)
}

func TestRulesThatKeepNeedNoDeleter(t *testing.T) {
	w := newWorld(t, inMemory)
	w.fill(10)
	w.say("mira", "fax", `"555"`, 1)
	w.register(lens2)
	w.through(w.draw(), migrate.CutOver)
	require.NoError(t, migrate.Contract(t.Context(), w.Ledger, target, nil))
	require.JSONEq(t, `"555"`, string(w.get(w.tenant.Current(), "mira", "fax").Value), "kept facts stay readable")
}
