package pgtest

import (
	"context"
	"os"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

const client = "client"

// pooled is a cluster with a pooler of two connections in front of it.
func pooled(t *testing.T) *Pooler {
	t.Helper()
	c := started(t, false)
	require.NoError(t, c.Do(t.Context(), "postgres", "CREATE ROLE "+client+" LOGIN"))
	p, err := c.Pooler(t.Context(), 2, client)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, p.Stop())
		_, err := os.Stat(p.folder)
		require.ErrorIs(t, err, os.ErrNotExist)
	})
	return p
}

func connected(t *testing.T, p *Pooler) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), p.DSN("postgres", client)+" default_query_exec_mode=exec")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close(context.Background())) })
	return conn
}

// backend is the number of the server process that a query ran in.
func backend(t *testing.T, on interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}) uint32 {
	t.Helper()
	var pid uint32
	require.NoError(t, on.QueryRow(t.Context(), "SELECT pg_backend_pid()").Scan(&pid))
	return pid
}

func TestAPoolerHandsAClientAnotherServerConnectionForAnotherTransaction(t *testing.T) {
	p := pooled(t)
	one, two := connected(t, p), connected(t, p)
	first := backend(t, one)
	held, err := two.Begin(t.Context())
	require.NoError(t, err)
	require.Equal(t, first, backend(t, held), "the only server connection goes to the other client")
	require.NotEqual(t, first, backend(t, one))
	require.NoError(t, held.Commit(t.Context()))
	require.NotEqual(t, first, one.PgConn().PID(), "the pooler's number is not the server's")
}

func TestAPoolerLeavesBehindWhatAClientSets(t *testing.T) {
	p := pooled(t)
	one, two := connected(t, p), connected(t, p)
	_, err := one.Exec(t.Context(), "SET pooled.word = 'left behind'")
	require.NoError(t, err)
	var word string
	require.NoError(t, two.QueryRow(t.Context(), "SELECT current_setting('pooled.word', true)").Scan(&word))
	require.Equal(t, "left behind", word)
}

func TestAPoolerRefusesParametersThatItDoesNotKnow(t *testing.T) {
	p := pooled(t)
	_, err := pgx.Connect(t.Context(), p.DSN("postgres", client)+" statement_timeout=1000")
	require.ErrorContains(t, err, "unsupported startup parameter")
}

func TestAMissingPoolerIsNamedWithItsCure(t *testing.T) {
	require.ErrorContains(t, ErrNoPooler, "PgBouncer")
	require.ErrorContains(t, ErrNoPooler, "apt-get install")
}
