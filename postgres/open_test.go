package postgres

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sgam-ledger/sgam"
)

func TestADatabaseThatIsNoLedgerIsRefused(t *testing.T) {
	c := cluster(t)
	name := blank(t)
	opts := &sgam.Options{Keys: secret{}}
	_, err := Open(t.Context(), c.DSN(name, application), opts)
	require.ErrorIs(t, err, sgam.ErrForeignFile)
	require.ErrorIs(t, Upgrade(t.Context(), c.DSN(name, owner), application), sgam.ErrForeignFile)
	require.NoError(t, Init(t.Context(), c.DSN(name, owner), InitOptions{Keys: secret{}, Role: application}))
	for format, want := range map[int]error{0: sgam.ErrFormatOld, 2: sgam.ErrFormatTooNew, 1: nil} {
		require.NoError(t, c.Do(t.Context(), name, "UPDATE sgam.ledger SET format = "+string(rune('0'+format))))
		l, err := Open(t.Context(), c.DSN(name, application), opts)
		if want != nil {
			require.ErrorIs(t, err, want)
			continue
		}
		require.NoError(t, err)
		require.NoError(t, l.Close())
	}
}

func TestAnUpgradeOfACurrentLedgerChangesNothing(t *testing.T) {
	name := newDatabase(t, InitOptions{})
	l := opened(t, name)
	_, err := tenant(t, l, "acme").Apply(t.Context(), assert("mira", "deadline", "2026-07-15", day(1)).From(message("e1", day(1))))
	require.NoError(t, err)
	require.NoError(t, Upgrade(t.Context(), cluster(t).DSN(name, owner), application))
	f, err := tenant(t, opened(t, name), "acme").Current().Get(t.Context(), "mira", "deadline")
	require.NoError(t, err)
	require.JSONEq(t, `"2026-07-15"`, string(f.Value))
}

func TestTheSecretIsKeptApart(t *testing.T) {
	c := cluster(t)
	name := blank(t)
	keys := KeyFile(filepath.Join(t.TempDir(), "ledger.keys"))
	_, err := Open(t.Context(), c.DSN(name, application), nil)
	require.ErrorIs(t, err, sgam.ErrKeyMissing, "a server has no place beside it")
	require.NoError(t, Init(t.Context(), c.DSN(name, owner), InitOptions{Keys: keys, Role: application}))
	l, err := Open(t.Context(), c.DSN(name, application), &sgam.Options{Keys: keys})
	require.NoError(t, err)
	require.NoError(t, l.Close())
	for _, other := range []sgam.KeyStore{KeyFile(filepath.Join(t.TempDir(), "none")), secret{}} {
		_, err = Open(t.Context(), c.DSN(name, application), &sgam.Options{Keys: other})
		require.ErrorIs(t, err, sgam.ErrKeyMissing)
	}
}

func TestAPoolStaysItsOwners(t *testing.T) {
	name := newDatabase(t, InitOptions{})
	pool, err := pgxpool.New(t.Context(), cluster(t).DSN(name, application))
	require.NoError(t, err)
	defer pool.Close()
	l, err := New(t.Context(), pool, &sgam.Options{Schemas: schemas(), Keys: secret{}, ClockTolerance: -1}, nil)
	require.NoError(t, err)
	_, err = tenant(t, l, "acme").Apply(t.Context(), assert("mira", "deadline", "2026-07-15", day(1)).From(message("e1", day(1))))
	require.NoError(t, err)
	require.NoError(t, l.Close())
	var left string
	var rows int
	require.NoError(t, pool.QueryRow(t.Context(), "SELECT coalesce(current_setting('sgam.tenant_id', true), ''), (SELECT count(*) FROM sgam.facts)").Scan(&left, &rows))
	require.Empty(t, left, "no transaction leaves its tenant behind")
	require.Zero(t, rows)
}

func TestInitRefusesWhatCannotStand(t *testing.T) {
	for why, opts := range map[string]InitOptions{
		"no secret": {}, "fewer than no partitions": {Keys: secret{}, Partitions: -1}, "both at once": {Keys: secret{}, Partitions: 2, Distributed: new(true)},
	} {
		var fault *sgam.FieldError
		require.ErrorAs(t, Init(t.Context(), cluster(t).DSN("postgres", owner), opts), &fault, why)
	}
	name := blank(t)
	dsn := cluster(t).DSN(name, owner)
	require.ErrorIs(t, Init(t.Context(), dsn, InitOptions{Keys: secret{}, Distributed: new(true)}), sgam.ErrUnsupported, "there is no citus")
	_, err := Open(t.Context(), dsn, &sgam.Options{Keys: secret{}})
	require.ErrorIs(t, err, sgam.ErrForeignFile, "and nothing is left of the attempt")
}
