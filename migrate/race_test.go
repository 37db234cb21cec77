package migrate_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/ledgertest"
	"github.com/sgam-ledger/sgam/migrate"
)

// meanwhile lets another handle of the ledger make a statement right before the n-th write from now.
func (w *world) meanwhile(n int, attribute, value string, version int) {
	w.Helper()
	opts := &sgam.Options{Schemas: lenient{w.types}, Clock: w.clock.Now}
	store, err := w.open(w.Context(), opts)
	require.NoError(w, err)
	other, err := sgam.New(w.Context(), store, opts)
	require.NoError(w, err)
	w.Cleanup(func() { require.NoError(w, other.Close()) })
	tenant, err := other.Tenant("acme")
	require.NoError(w, err)
	w.faulty.AtWrite(n, ledgertest.Fault{When: ledgertest.BeforeCall, Do: func() error {
		r, err := tenant.Apply(w.Context(), w.delta("mira", attribute, value, version))
		return errors.Join(err, r.Err())
	}})
}

// epoch is what the tenant reads and writes.
func (w *world) epoch() [3]int {
	w.Helper()
	all, err := w.tenant.Epochs(w.Context())
	require.NoError(w, err)
	last := all[len(all)-1]
	return [3]int{last.Read, last.Write, last.Second}
}

func TestAFactThatComesAtTheLastMomentStopsTheCutOver(t *testing.T) {
	for _, e := range everywhere() {
		t.Run(e.name, func(t *testing.T) {
			w := newWorld(t, e)
			w.at(migrate.Verified)
			w.meanwhile(2, "profile", `{"name":"Mira","level":"high"}`, 1)
			err := migrate.Cutover(t.Context(), w.Ledger, target)
			require.ErrorIs(t, err, migrate.ErrQuarantine)
			require.Equal(t, migrate.Dual, w.standing().State)
			require.Equal(t, [3]int{1, 1, 2}, w.epoch())
			require.NoError(t, migrate.Rollback(t.Context(), w.Ledger, target, false))
		})
	}
}

func TestALossThatComesAtTheLastMomentStopsTheRollback(t *testing.T) {
	for _, e := range everywhere() {
		t.Run(e.name, func(t *testing.T) {
			w := newWorld(t, e)
			w.at(migrate.CutOver)
			w.meanwhile(2, "status", `"gone"`, 2)
			err := migrate.Rollback(t.Context(), w.Ledger, target, false)
			lossy, ok := errors.AsType[*migrate.LossyError](err)
			require.True(t, ok, "%v", err)
			require.Equal(t, int64(1), lossy.Facts)
			require.Equal(t, migrate.CutOver, w.standing().State)
			require.Equal(t, [3]int{2, 2, 1}, w.epoch())
		})
	}
}

func TestACutOverThatDiesHalfWayCanGoOnOrBack(t *testing.T) {
	for _, e := range everywhere() {
		t.Run(e.name, func(t *testing.T) {
			for name, next := range map[string]func(w *world) error{
				"on":   func(w *world) error { return migrate.Cutover(w.Context(), w.Ledger, target) },
				"back": func(w *world) error { return migrate.Rollback(w.Context(), w.Ledger, target, false) },
			} {
				t.Run(name, func(t *testing.T) {
					w := newWorld(t, e)
					w.say("mira", "profile", `{"name":"Mira","level":"3"}`, 1)
					w.at(migrate.Verified)
					w.faulty.AtWrite(3, ledgertest.Fault{When: ledgertest.BeforeCall, Do: func() error { return errPlanned }})
					require.ErrorIs(t, migrate.Cutover(t.Context(), w.Ledger, target), errPlanned)
					require.Equal(t, migrate.Verified, w.standing().State)
					require.Equal(t, 1, w.get(w.tenant.Current(), "mira", "profile").SchemaVersion)
					w.say("bob", "profile", `{"name":"Bob"}`, 1)
					w.say("eve", "profile", `{"full_name":"Eve"}`, 2)
					require.Equal(t, sgam.Rejected, w.try("bob", "profile", `{"name":"Bob","level":"high"}`, 1).Outcome, "nothing comes into quarantine any more")
					require.NoError(t, next(w))
					for _, subject := range []string{"mira", "bob", "eve"} {
						w.get(w.tenant.Current(), subject, "profile")
					}
				})
			}
		})
	}
}

func TestARollbackThatDiesHalfWayCanGoOn(t *testing.T) {
	for _, e := range everywhere() {
		t.Run(e.name, func(t *testing.T) {
			for name, next := range map[string]func(w *world) error{
				"on":          func(w *world) error { return migrate.Rollback(w.Context(), w.Ledger, target, false) },
				"to contract": func(w *world) error { return acts["contract"](w, nil) },
			} {
				t.Run(name, func(t *testing.T) {
					w := newWorld(t, e)
					w.say("mira", "profile", `{"name":"Mira","level":"3"}`, 1)
					w.at(migrate.CutOver)
					w.faulty.AtWrite(3, ledgertest.Fault{When: ledgertest.BeforeCall, Do: func() error { return errPlanned }})
					require.ErrorIs(t, migrate.Rollback(t.Context(), w.Ledger, target, false), errPlanned)
					require.Equal(t, migrate.CutOver, w.standing().State)
					require.Equal(t, 2, w.get(w.tenant.Current(), "mira", "profile").SchemaVersion)
					w.say("bob", "profile", `{"name":"Bob"}`, 1)
					require.NoError(t, next(w))
					w.get(w.tenant.Current(), "bob", "profile")
				})
			}
		})
	}
}

func TestErrorsSayWhatIsWrongAndWhatToDo(t *testing.T) {
	for text, err := range map[string]error{
		`a removed attribute has no deletion rule: fax, telex: say keep_readable, expire or erase`: &migrate.DeletionRuleError{Attributes: []string{"fax", "telex"}},
		`the lens into version 2 has changed: draw a new one`:                                      &migrate.StaleError{What: "lens into version 2"},
		`the epoch of tenant "acme" has changed: draw a new one`:                                   &migrate.StaleError{Tenant: "acme", What: "epoch"},
		`cutover of type "contact", tenant "acme": the migration is dual, paused, which allows resume, rollback`: &migrate.StateError{
			Tenant: "acme", Type: "contact", Action: "cutover", State: migrate.Dual, Paused: true, Allowed: []string{"resume", "rollback"},
		},
		`the migration is rolled_back, which allows nothing`:            &migrate.StateError{State: migrate.RolledBack},
		`tenant "acme" is held by "me" until 2026-01-01T00:00:00Z`:      &migrate.LeaseError{Tenant: "acme", Holder: "me", Until: dayOne},
		`3 of tenant "acme": roll back and register a better lens`:      &migrate.QuarantineError{Tenant: "acme", Facts: 3},
		`4 of tenant "acme", recorded since the migration began: force`: &migrate.LossyError{Tenant: "acme", Facts: 4},
		`1 in tenant "acme", first: form, fact 7 of phone: not what it says`: &migrate.FindingsError{Verification: &migrate.Verification{
			Tenant: "acme", Found: 1, Findings: []migrate.Finding{{Kind: "form", Fact: 7, Attribute: "phone", Detail: "not what it says"}},
		}},
	} {
		require.ErrorContains(t, err, text)
	}
}
