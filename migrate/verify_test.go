package migrate_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/migrate"
)

func TestVerificationCountsBothSides(t *testing.T) {
	for _, e := range everywhere() {
		t.Run(e.name, func(t *testing.T) {
			w := newWorld(t, e)
			w.fill(100)
			w.register(lens2)
			plan := w.draw()
			w.through(plan, migrate.Dual)
			w.say("mira", "profile", `{"full_name":"Mira"}`, 2)
			v := w.verify()
			by := map[string]migrate.Comparison{}
			for _, c := range v.Attributes {
				by[c.Attribute] = c
			}
			require.Equal(t, map[string]migrate.Comparison{
				"profile": {Attribute: "profile", Facts: 21, Forms: 21, RoundTrips: 20},
				"phone":   {Attribute: "phone", Facts: 40, Forms: 40, RoundTrips: 40},
				"status":  {Attribute: "status", Facts: 20, Forms: 20, RoundTrips: 20},
			}, by)
			again := w.verify()
			require.Equal(t, v.Stored, again.Stored, "a digest is that of the same facts")
			w.say("mira", "profile", `{"full_name":"Mirabel"}`, 2)
			require.NotEqual(t, v.Stored, w.verify().Stored)
		})
	}
}

// tamper writes an encoding past the migration.
func (w *world) tamper(change func(*sgam.StoredValue) *sgam.NewEncoding) {
	w.Helper()
	var encodings []sgam.NewEncoding
	for v, err := range w.tenant.Values(w.Context(), "contact", 0) {
		require.NoError(w, err)
		if e := change(&v); e != nil && len(encodings) == 0 {
			encodings = append(encodings, *e)
		}
	}
	require.Len(w, encodings, 1)
	require.NoError(w, w.tenant.Migrate(w.Context(), "contact", func(*sgam.MigrationStep) (*sgam.MigrationWrite, error) {
		return &sgam.MigrationWrite{Encodings: encodings}, nil
	}))
}

func TestVerificationFindsWhatIsWrong(t *testing.T) {
	for _, e := range everywhere() {
		t.Run(e.name, func(t *testing.T) {
			for name, c := range map[string]struct {
				made sgam.Converted
				kind string
			}{
				"another value":              {sgam.Converted{Value: []byte(`"gone"`)}, "form"},
				"a loss that was not there":  {sgam.Converted{Value: []byte(`"new"`), Lossy: true}, "form"},
				"a default that nobody made": {sgam.Converted{Value: []byte(`"new"`), Defaulted: []string{"/"}}, "form"},
			} {
				t.Run(name, func(t *testing.T) {
					w := newWorld(t, e)
					w.say("mira", "status", `"new"`, 1)
					w.fill(30)
					w.register(lens2)
					w.through(w.draw(), migrate.Verified)
					w.tamper(func(v *sgam.StoredValue) *sgam.NewEncoding {
						if v.Subject != "mira" {
							return nil
						}
						e := w.tenant.Encode(v, 2, c.made)
						return &e
					})
					all, err := migrate.Verify(t.Context(), w.Ledger, target)
					require.ErrorIs(t, err, migrate.ErrFindings)
					require.Equal(t, int64(1), all[0].Found)
					require.Equal(t, c.kind, all[0].Findings[0].Kind)
					require.NotEqual(t, all[0].Expected, all[0].Stored)
					require.Equal(t, migrate.Dual, w.standing().State, "it is not verified any more")
					require.NoError(t, migrate.Rollback(t.Context(), w.Ledger, target, false))
				})
			}
		})
	}
}

func TestVerificationFindsAFactWithoutAForm(t *testing.T) {
	w := newWorld(t, inMemory)
	w.fill(30)
	w.register(lens2)
	plan := w.draw()
	w.begin(plan)
	// A record that says that the backfill is done, where nothing was.
	require.NoError(t, w.tenant.Migrate(t.Context(), "contact", func(s *sgam.MigrationStep) (*sgam.MigrationWrite, error) {
		record := *s.Record
		record.State = string(migrate.Dual)
		return &sgam.MigrationWrite{Record: &record}, nil
	}))
	all, err := migrate.Verify(t.Context(), w.Ledger, target)
	require.ErrorIs(t, err, migrate.ErrFindings)
	require.Equal(t, int64(24), all[0].Found)
	require.Len(t, all[0].Findings, 20, "the first of them are named")
	require.Equal(t, "missing", all[0].Findings[0].Kind)
}
