package pgtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5"

	"github.com/sgam-ledger/sgam/internal/keeper"
)

// ErrNoPooler says that PgBouncer is not installed. Its text names the command that installs it.
var ErrNoPooler = errors.New("PgBouncer is not installed: run 'apt-get install -y --no-install-recommends pgbouncer', " +
	"which on Debian also starts it as a service, unless 'systemctl mask pgbouncer' has been said before")

// Pooler is a PgBouncer in transaction mode in front of a [Cluster]. It listens on a Unix socket of its own and nowhere else.
//
// For each pair of a database and a role it holds as many connections to the server as it was made with. A client gets one of
// them for a transaction and none between two; the pooler clears nothing up in between, as is its default in this mode. So
// whatever a transaction leaves behind on the server meets whoever comes next, and what a client has said of its session may be
// gone in its next transaction. It tells its clients a process number of its own making, not the server's, and refuses every
// parameter at the start of a connection that it does not know.
type Pooler struct {
	as     *syscall.SysProcAttr
	folder string // holds the socket, the configuration and the log
	server *keeper.Kept
}

// Pooler starts a pooler with so many connections to the server. It lets the superuser and the given roles in. It fails with
// [ErrNoPooler].
func (c *Cluster) Pooler(ctx context.Context, size int, roles ...string) (*Pooler, error) {
	program, err := pooler()
	if err != nil {
		return nil, err
	}
	p := &Pooler{as: c.as}
	if err := p.configure(c, size, append([]string{superuser}, roles...)); err != nil {
		return nil, errors.Join(err, p.Stop())
	}
	// What its signals mean has changed with its versions, and it has nothing to lose.
	if p.server, err = keeper.Run(p.folder, p.as, "KILL", program, filepath.Join(p.folder, "ini")); err != nil {
		return nil, errors.Join(err, p.Stop())
	}
	if err := p.server.Answers(ctx, p.ping); err != nil {
		return nil, errors.Join(err, p.Stop())
	}
	return p, nil
}

// pooler finds PgBouncer. Debian keeps it where only administrators have their PATH.
func pooler() (string, error) {
	for _, name := range []string{"pgbouncer", "/usr/sbin/pgbouncer"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", ErrNoPooler
}

// configuration keeps nothing that a server connection was told, and closes none that is idle.
const configuration = `[databases]
* = host=%[1]s
[pgbouncer]
pool_mode = transaction
default_pool_size = %[3]d
unix_socket_dir = %[2]s
listen_port = 5432
auth_type = trust
auth_file = %[2]s/roles
admin_users = %[4]s
server_idle_timeout = 0
server_lifetime = 86400
`

// configure fills the folder of the pooler.
func (p *Pooler) configure(c *Cluster, size int, roles []string) (err error) {
	if p.folder, err = keeper.Folder(p.as, "sgam-pool-"); err != nil {
		return err
	}
	var known strings.Builder
	for _, role := range roles {
		fmt.Fprintf(&known, "%q \"\"\n", role)
	}
	for name, text := range map[string]string{
		"roles": known.String(), "ini": fmt.Sprintf(configuration, c.folder, p.folder, size, superuser),
	} {
		path := filepath.Join(p.folder, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return err
		}
		if u := p.as.Credential; u != nil {
			if err := os.Chown(path, int(u.Uid), int(u.Gid)); err != nil {
				return err
			}
		}
	}
	return nil
}

// ping asks the pooler itself, not the server behind it.
func (p *Pooler) ping(ctx context.Context) (err error) {
	conn, err := pgx.Connect(ctx, p.DSN("pgbouncer", superuser)+" default_query_exec_mode=simple_protocol")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	_, err = conn.Exec(ctx, "SHOW VERSION")
	return err
}

// DSN is a connection string for a database of the cluster, as a role, through the pooler.
func (p *Pooler) DSN(database, role string) string {
	return fmt.Sprintf("host=%s user=%s dbname=%s", p.folder, role, database)
}

// Stop ends the pooler and whatever its clients have under way.
func (p *Pooler) Stop() error {
	err := p.server.End()
	if p.folder == "" {
		return err
	}
	return errors.Join(err, os.RemoveAll(p.folder))
}
