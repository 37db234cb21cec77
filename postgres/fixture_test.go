package postgres

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/internal/ledgerkey"
	"github.com/sgam-ledger/sgam/internal/pgtest"
	"github.com/sgam-ledger/sgam/ledgertest"
)

// The roles of the tests: one owns the tables, the other is the application's.
const owner, application = "sgam_owner", "sgam_app"

// server is the cluster of this test process, started by the first test that needs it. Ledgers are copies of a database
// that was made once for each layout.
var server struct {
	start     sync.Once
	cluster   *pgtest.Cluster
	err       error
	databases atomic.Int64

	pool   sync.Once
	pooler *pgtest.Pooler // in front of it, nil until a test needs it

	mu    sync.Mutex
	ready map[string]bool     // databases to copy, one for each layout
	free  map[string][]string // copies that a test has done with, emptied
}

func TestMain(m *testing.M) {
	code := m.Run()
	if server.pooler != nil {
		if err := server.pooler.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	if citus.host != nil {
		if err := citus.host.stop(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	if server.cluster != nil {
		if err := server.cluster.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

func cluster(tb testing.TB) *pgtest.Cluster {
	tb.Helper()
	pgtest.Long(tb)
	server.start.Do(func() {
		ctx := context.Background()
		server.ready, server.free = map[string]bool{}, map[string][]string{}
		if server.cluster, server.err = pgtest.Start(ctx, false); server.err == nil {
			server.err = server.cluster.Do(ctx, "postgres", "CREATE ROLE "+owner+" LOGIN CREATEDB", "CREATE ROLE "+application+" LOGIN")
		}
	})
	require.NoError(tb, server.err)
	return server.cluster
}

// serverConnections is how many connections the pooler has to each database.
const serverConnections = 3

// pooler is the pooler in front of the cluster.
func pooler(tb testing.TB) *pgtest.Pooler {
	tb.Helper()
	c := cluster(tb)
	server.pool.Do(func() {
		server.pooler, server.err = c.Pooler(context.Background(), serverConnections, owner, application)
	})
	require.NoError(tb, server.err)
	return server.pooler
}

// secret is the key of every test's ledger.
type secret struct{}

func (secret) Key(context.Context, string, bool) ([]byte, error) {
	return []byte("thirty-two bytes that are known."), nil
}

// blank is a new database without a ledger.
func blank(tb testing.TB) string {
	tb.Helper()
	c := cluster(tb)
	name := fmt.Sprintf("blank%d", server.databases.Add(1))
	require.NoError(tb, c.Do(tb.Context(), "postgres", "CREATE DATABASE "+name+" OWNER "+owner))
	return name
}

// newDatabase is a new database with an empty ledger in a layout. One that is distributed stands on the stand-in for Citus.
func newDatabase(tb testing.TB, opts InitOptions) string {
	tb.Helper()
	c := cluster(tb)
	spread := opts.Distributed != nil && *opts.Distributed
	opts.Keys, opts.Role = secret{}, application
	original := fmt.Sprintf("original%d%t", opts.Partitions, spread)
	server.mu.Lock()
	defer server.mu.Unlock()
	if !server.ready[original] {
		require.NoError(tb, c.Do(tb.Context(), "postgres", "CREATE DATABASE "+original+" OWNER "+owner))
		if spread {
			require.NoError(tb, c.Do(tb.Context(), original, standIn("13.2-1")...))
		}
		require.NoError(tb, Init(tb.Context(), c.DSN(original, owner), opts))
		server.ready[original] = true
	}
	var name string
	if free := server.free[original]; len(free) > 0 {
		name, server.free[original] = free[len(free)-1], free[:len(free)-1]
	} else {
		name = fmt.Sprintf("ledger%d", server.databases.Add(1))
		require.NoError(tb, c.Do(tb.Context(), "postgres", "CREATE DATABASE "+name+" OWNER "+owner+" TEMPLATE "+original))
	}
	tb.Cleanup(func() {
		if tb.Failed() {
			return // what is in it may tell why
		}
		key, err := secret{}.Key(context.Background(), name, false)
		require.NoError(tb, err)
		require.NoError(tb, c.Do(context.Background(), name, empty, rekey(key)))
		server.mu.Lock()
		defer server.mu.Unlock()
		server.free[original] = append(server.free[original], name)
	})
	return name
}

// empty takes a ledger back to its beginning: a database that is copied costs much more time.
const empty = `SET session_replication_role = replica;
DO $$
DECLARE one text;
BEGIN
    FOR one IN SELECT c.relname FROM pg_class c WHERE c.relnamespace = 'sgam'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
        AND c.relname NOT IN ('ledger', 'registry', 'tenants')
    LOOP
        EXECUTE format('DELETE FROM sgam.%I', one);
    END LOOP;
    DELETE FROM sgam.tenants WHERE tenant_id <> 0;
    UPDATE sgam.registry SET revision = 0;
    PERFORM setval('sgam.tenant_ids', 1, false);
END $$`

// layout makes places whose tables stand in a layout.
func layout(opts InitOptions) func(tb testing.TB) ledgertest.Place {
	return func(tb testing.TB) ledgertest.Place {
		tb.Helper()
		return at(tb, newDatabase(tb, opts), nil)
	}
}

// way is how a database is reached.
type way interface {
	DSN(database, role string) string
}

// at is a place in a database.
func at(tb testing.TB, name string, engine *Options) ledgertest.Place {
	tb.Helper()
	return by(tb, home(tb, name), name, engine)
}

// by is a place in a database that is reached some way.
func by(tb testing.TB, to way, name string, engine *Options) ledgertest.Place {
	tb.Helper()
	c := home(tb, name)
	founded := false
	return func(ctx context.Context, opts *sgam.Options) (*sgam.Ledger, error) {
		if own := keyed(opts); !founded && own.Keys != (secret{}) {
			key, err := own.Keys.Key(ctx, name, true)
			if err != nil {
				return nil, err
			}
			if err := c.Do(ctx, name, rekey(key)); err != nil {
				return nil, err
			}
		}
		founded = true
		return OpenWith(ctx, to.DSN(name, application), keyed(opts), engine)
	}
}

// rekey gives a ledger that was copied another secret.
func rekey(key []byte) string {
	return fmt.Sprintf("UPDATE sgam.ledger SET key_check = decode('%x', 'hex')", ledgerkey.Check(key))
}

// keyed are the same options with the tests' key, unless they have one.
func keyed(opts *sgam.Options) *sgam.Options {
	own := sgam.Options{}
	if opts != nil {
		own = *opts
	}
	if own.Keys == nil {
		own.Keys = secret{}
	}
	return &own
}

// as is a connection of the driver alone, as a role.
func as(tb testing.TB, name, role string) *pgx.Conn {
	tb.Helper()
	conn, err := pgx.Connect(tb.Context(), home(tb, name).DSN(name, role))
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, conn.Close(context.Background())) })
	return conn
}

// sqlState is the code of an error of the driver.
func sqlState(err error) string {
	var coded interface{ SQLState() string }
	if errors.As(err, &coded) {
		return coded.SQLState()
	}
	return ""
}

// day is a day of June 2026.
func day(n int) time.Time { return time.Date(2026, 6, n, 0, 0, 0, 0, time.UTC) }

func message(id string, at time.Time) sgam.Episode {
	return sgam.Episode{ID: id, Kind: sgam.Message, OccurredAt: at, Text: "text of " + id}
}

func assert(subject, attribute, value string, from time.Time) sgam.MemoryDelta {
	return sgam.MemoryDelta{Op: sgam.Assert, Subject: subject, Attribute: attribute, Value: []byte(fmt.Sprintf("%q", value)), ValidFrom: &from}
}

// schemas declares attributes of every policy and cardinality that the engine has to carry.
func schemas() sgam.Schemas {
	return ledgertest.NewSchemas(
		ledgertest.Attribute{Type: "person", Name: "deadline", Tag: 1, Aliases: []string{"due"}},
		ledgertest.Attribute{Type: "person", Name: "allergy", Tag: 2, Many: true},
		ledgertest.Attribute{Type: "person", Name: "email", Tag: 3, Policy: sgam.KeepHighestConfidence},
		ledgertest.Attribute{Type: "person", Name: "consent", Tag: 5, Policy: sgam.ConfirmFirst})
}

// open opens a ledger that proves itself at the end of the test.
func opened(tb testing.TB, name string) *sgam.Ledger {
	tb.Helper()
	l, err := at(tb, name, nil)(tb.Context(), &sgam.Options{Schemas: schemas(), ClockTolerance: -1})
	require.NoError(tb, err)
	ledgertest.Proven(tb, l)
	return l
}

func tenant(tb testing.TB, l *sgam.Ledger, name string) *sgam.Tenant {
	tb.Helper()
	t, err := l.Tenant(name)
	require.NoError(tb, err)
	return t
}
