package postgres

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/internal/pgtest"
	"github.com/sgam-ledger/sgam/ledgertest"
)

// host is a server with databases of tests.
type host interface {
	DSN(database, role string) string
	Do(ctx context.Context, database string, statements ...string) error
}

// home is the server that a test's database is on.
func home(tb testing.TB, name string) host {
	tb.Helper()
	if strings.HasPrefix(name, citusPrefix) {
		return citus.host
	}
	return cluster(tb)
}

// citusPrefix begins the names of the databases that tests make on a cluster of Citus.
const citusPrefix = "sgam_test_"

// citus is the cluster that SGAM_TEST_CITUS names: the connection string of a database of its coordinator that has the
// extension, as a superuser who may make databases and roles on every node. The nodes must let the tests' roles in from the
// coordinator, with the superuser's password where they want one.
var citus struct {
	start     sync.Once
	host      *citusHost
	err       error
	databases atomic.Int64

	mu   sync.Mutex
	free []string
}

// citusHost is a cluster of Citus.
type citusHost struct {
	config  *pgx.ConnConfig
	workers []string // "host=… port=…" of each
}

// citusDatabase is a database on a real cluster with an empty ledger that is distributed.
func citusDatabase(tb testing.TB) string {
	tb.Helper()
	pgtest.Long(tb)
	dsn := os.Getenv("SGAM_TEST_CITUS")
	if dsn == "" {
		tb.Skip("a cluster of Citus is needed: set SGAM_TEST_CITUS to the connection string of its coordinator")
	}
	citus.start.Do(func() { citus.host, citus.err = startCitus(context.Background(), dsn) })
	require.NoError(tb, citus.err)
	citus.mu.Lock()
	defer citus.mu.Unlock()
	var name string
	if n := len(citus.free); n > 0 {
		name, citus.free = citus.free[n-1], citus.free[:n-1]
	} else {
		name = fmt.Sprintf("%s%d_%d", citusPrefix, os.Getpid(), citus.databases.Add(1))
		require.NoError(tb, citus.host.create(tb.Context(), name))
		require.NoError(tb, Init(tb.Context(), citus.host.DSN(name, owner), InitOptions{Keys: secret{}, Role: application}))
	}
	tb.Cleanup(func() {
		if tb.Failed() {
			return // what is in it may tell why
		}
		key, err := secret{}.Key(context.Background(), name, false)
		require.NoError(tb, err)
		require.NoError(tb, citus.host.Do(context.Background(), name, append(emptied, rekey(key))...))
		citus.mu.Lock()
		defer citus.mu.Unlock()
		citus.free = append(citus.free, name)
	})
	return name
}

// emptied takes a ledger back to its beginning on every node.
var emptied = []string{
	"TRUNCATE sgam.tenants, sgam.types, sgam.directory CASCADE",
	"INSERT INTO sgam.tenants VALUES (0, " + fmt.Sprint(int64(sgam.Beginning)) + ", 0, 0, 1, 1, 1, 1)",
	"UPDATE sgam.registry SET revision = 0",
	"SELECT setval('sgam.tenant_ids', 1, false)",
}

func startCitus(ctx context.Context, dsn string) (h *citusHost, err error) {
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, err
	}
	h = &citusHost{config: config}
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	rows, err := conn.Query(ctx, "SELECT format('host=%s port=%s', nodename, nodeport) FROM pg_dist_node WHERE groupid <> 0 AND isactive ORDER BY 1")
	if err != nil {
		return nil, err
	}
	if h.workers, err = pgx.CollectRows(rows, pgx.RowTo[string]); err != nil {
		return nil, err
	}
	// Citus makes a role on all nodes.
	for role, rights := range map[string]string{owner: "LOGIN CREATEDB", application: "LOGIN"} {
		var there bool
		if err := conn.QueryRow(ctx, "SELECT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = $1)", role).Scan(&there); err != nil {
			return nil, err
		}
		if there {
			continue
		}
		if config.Password != "" {
			rights += " PASSWORD '" + strings.ReplaceAll(config.Password, "'", "''") + "'"
		}
		if _, err := conn.Exec(ctx, "CREATE ROLE "+role+" "+rights); err != nil {
			return nil, err
		}
	}
	return h, nil
}

// DSN is a connection string for a database of the coordinator.
func (h *citusHost) DSN(database, role string) string {
	return h.on(fmt.Sprintf("host=%s port=%d", h.config.Host, h.config.Port), database, role)
}

func (h *citusHost) on(node, database, role string) string {
	dsn := fmt.Sprintf("%s user=%s dbname=%s", node, role, database)
	if h.config.Password != "" {
		dsn += " password='" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(h.config.Password) + "'"
	}
	if h.config.TLSConfig == nil {
		dsn += " sslmode=disable"
	}
	return dsn
}

// Do runs statements on the coordinator as the superuser.
func (h *citusHost) Do(ctx context.Context, database string, statements ...string) error {
	return pgtest.Do(ctx, h.DSN(database, h.config.User), statements...)
}

// create makes a database on every node and joins the nodes to it.
func (h *citusHost) create(ctx context.Context, name string) error {
	base := h.config.Database
	join := []string{"ALTER DATABASE " + name + " SET citus.shard_count = 4", "CREATE EXTENSION btree_gist"}
	for _, node := range h.workers {
		user := h.config.User
		if err := pgtest.Do(ctx, h.on(node, base, user), "CREATE DATABASE "+name+" OWNER "+owner); err != nil {
			return err
		}
		if err := pgtest.Do(ctx, h.on(node, name, user), "CREATE EXTENSION citus"); err != nil {
			return err
		}
		var worker string
		var port int
		if _, err := fmt.Sscanf(node, "host=%s port=%d", &worker, &port); err != nil {
			return err
		}
		join = append([]string{fmt.Sprintf("SELECT citus_add_node('%s', %d)", worker, port)}, join...)
	}
	if len(h.workers) > 0 {
		join = append([]string{fmt.Sprintf("SELECT citus_set_coordinator_host('%s', %d)", h.config.Host, h.config.Port)}, join...)
	}
	if err := h.Do(ctx, base, "CREATE DATABASE "+name+" OWNER "+owner); err != nil {
		return err
	}
	return h.Do(ctx, name, append([]string{"CREATE EXTENSION citus"}, join...)...)
}

// stop takes the databases away again.
func (h *citusHost) stop(ctx context.Context) error {
	var err error
	for n := range citus.databases.Load() {
		drop := fmt.Sprintf("DROP DATABASE IF EXISTS %s%d_%d WITH (FORCE)", citusPrefix, os.Getpid(), n+1)
		err = errors.Join(err, h.Do(ctx, h.config.Database, drop))
		for _, node := range h.workers {
			err = errors.Join(err, pgtest.Do(ctx, h.on(node, h.config.Database, h.config.User), drop))
		}
	}
	return err
}

// onCitus is a new place on a real cluster.
func onCitus(tb testing.TB) ledgertest.Place {
	tb.Helper()
	return at(tb, citusDatabase(tb), nil)
}

func TestTheLawsHoldOnCitus(t *testing.T) {
	citusDatabase(t) // skips here, and not in every law
	ledgertest.Run(t, onCitus)
}

func TestTheWallsAndGuardsHoldOnCitus(t *testing.T) {
	name := told(t, citusDatabase(t))
	seesNoOther(t, name)
	refusesWhatIsForbidden(t, name, true)
}

// An empty ledger and one with rows are planned alike: what Citus plans depends on the tenant that a statement names.
func TestEachStatementOfARequestIsOneTaskOnCitus(t *testing.T) {
	name := told(t, citusDatabase(t))
	plans := explained(t, name)
	require.Greater(t, len(plans), 80)
	for name, plan := range plans {
		require.Empty(t, notOneTask(plan), "%s:\n%s", name, plan)
	}
}
