// Package pgtest gives tests a PostgreSQL server of their own: a cluster in a temporary folder that listens on a Unix socket
// and nowhere else, and is gone with the process that started it, however that ends. A pooler can stand in front of it, and
// goes the same way.
package pgtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5"

	"github.com/sgam-ledger/sgam/internal/keeper"
)

// ErrMissing says that the programs of PostgreSQL are not installed. Its text names the command that installs them.
var ErrMissing = errors.New("PostgreSQL is not installed: run 'apt-get install -y --no-install-recommends postgresql'")

// superuser is the role that a cluster is made with.
const superuser = "postgres"

// Cluster is one running server.
type Cluster struct {
	bin    string
	folder string // holds the data, the socket and the log
	as     *syscall.SysProcAttr
	flags  []string

	server *keeper.Kept
}

// Start makes a cluster and starts its server. A durable one writes through to the disk, as a server in production does;
// any other is faster, and loses everything with the machine. It fails with [ErrMissing].
//
// PostgreSQL refuses to run as root, so under root it runs as the user postgres.
func Start(ctx context.Context, durable bool) (*Cluster, error) {
	bin, err := programs(ctx)
	if err != nil {
		return nil, err
	}
	as, err := keeper.Account(superuser)
	if err != nil {
		return nil, fmt.Errorf("%w (%w)", ErrMissing, err)
	}
	c := &Cluster{bin: bin, as: as, flags: []string{
		"listen_addresses=", "max_connections=200", "shared_buffers=128MB", "max_wal_size=1GB", "log_min_messages=warning",
	}}
	if durable {
		c.flags = append(c.flags, "fsync=on", "full_page_writes=on", "synchronous_commit=on")
	} else {
		c.flags = append(c.flags, "fsync=off", "full_page_writes=off", "synchronous_commit=on", "wal_level=minimal", "max_wal_senders=0")
	}
	if err := c.make(ctx); err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	if err := c.Up(ctx); err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}

// programs finds the folder of PostgreSQL's programs; of several versions the newest.
func programs(ctx context.Context) (string, error) {
	var folders []string
	if out, err := exec.CommandContext(ctx, "pg_config", "--bindir").Output(); err == nil {
		folders = append(folders, strings.TrimSpace(string(out)))
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin")
	if err != nil {
		return "", err
	}
	slices.SortFunc(found, func(a, b string) int { return number(b) - number(a) })
	folders = append(folders, found...)
	if path, err := exec.LookPath("initdb"); err == nil {
		folders = append(folders, filepath.Dir(path))
	}
	for _, f := range folders {
		_, noInit := os.Stat(filepath.Join(f, "initdb"))
		_, noServer := os.Stat(filepath.Join(f, "postgres"))
		if noInit == nil && noServer == nil {
			return f, nil
		}
	}
	return "", ErrMissing
}

// number is the version in a folder such as /usr/lib/postgresql/15/bin, 0 when there is none.
func number(folder string) int {
	n, err := strconv.Atoi(filepath.Base(filepath.Dir(folder)))
	if err != nil {
		return 0
	}
	return n
}

// make fills the folder of the cluster.
func (c *Cluster) make(ctx context.Context) error {
	var err error
	if c.folder, err = keeper.Folder(c.as, "sgam-pg-"); err != nil {
		return err
	}
	init := c.command(ctx, "initdb", "--pgdata="+c.data(), "--auth=trust", "--username="+superuser, "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync")
	if out, err := init.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, out)
	}
	return nil
}

func (c *Cluster) data() string { return filepath.Join(c.folder, "data") }

// command is one of PostgreSQL's programs, run as the server's user.
func (c *Cluster) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(c.bin, name), args...) //nolint:gosec // one of PostgreSQL's
	cmd.SysProcAttr, cmd.Dir = c.as, c.folder
	return cmd
}

// Up starts the server after [Cluster.Crash], and returns when it answers.
func (c *Cluster) Up(ctx context.Context) error {
	args := []string{filepath.Join(c.bin, "postgres"), "-D", c.data(), "-k", c.folder}
	for _, flag := range c.flags {
		args = append(args, "-c", flag)
	}
	var err error
	if c.server, err = keeper.Run(c.folder, c.as, "QUIT", args...); err != nil {
		return err
	}
	return c.server.Answers(ctx, func(ctx context.Context) error { return c.Do(ctx, "postgres") })
}

// Crash stops the server at once, as a failing machine would: it does not write out what it holds. [Cluster.Up] starts it
// again.
func (c *Cluster) Crash() error {
	stay := filepath.Join(c.folder, "stay")
	if err := os.WriteFile(stay, nil, 0o600); err != nil {
		return err
	}
	return errors.Join(c.server.End(), os.Remove(stay))
}

// Stop ends the server and removes the cluster.
func (c *Cluster) Stop() error { return errors.Join(c.server.End(), c.remove()) }

func (c *Cluster) remove() error {
	if c.folder == "" {
		return nil
	}
	return os.RemoveAll(c.folder)
}

// DSN is a connection string for a database of the cluster, as a role.
func (c *Cluster) DSN(database, role string) string {
	return fmt.Sprintf("host=%s user=%s dbname=%s", c.folder, role, database)
}

// Do connects to a database as the superuser and runs statements.
func (c *Cluster) Do(ctx context.Context, database string, statements ...string) error {
	return Do(ctx, c.DSN(database, superuser), statements...)
}

// Do connects to a database and runs statements.
func Do(ctx context.Context, dsn string, statements ...string) (err error) {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	for _, text := range statements {
		if _, err := conn.Exec(ctx, text); err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
	}
	return nil
}
