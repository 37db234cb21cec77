// Package mariatest gives tests a MariaDB server of their own: its data in a temporary folder, its Unix socket there too and
// no other, and all of it gone with the process that started it, however that ends.
package mariatest

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/sgam-ledger/sgam/internal/keeper"
)

// ErrMissing says that the program of MariaDB is not installed. Its text names the command that installs it.
var ErrMissing = errors.New("MariaDB is not installed: run 'apt-get install -y --no-install-recommends mariadb-server-core'")

// Server is one running server.
type Server struct {
	program string
	share   string // the folder with the statements that make the system's tables
	folder  string // holds the data, the socket and the log
	as      *syscall.SysProcAttr
	durable bool

	server *keeper.Kept
}

// Start makes a server and starts it. A durable one writes each commit through to the disk, as a server in production does;
// any other is faster, and loses what it did last with the machine. It fails with [ErrMissing].
//
// MariaDB refuses to run as root, so under root it runs as the user mysql, or as nobody where there is none.
func Start(ctx context.Context, durable bool) (*Server, error) {
	s := &Server{durable: durable}
	if err := s.find(ctx); err != nil {
		return nil, err
	}
	var err error
	if s.as, err = keeper.Account("mysql", "nobody"); err != nil {
		return nil, err
	}
	if err := s.make(ctx); err != nil {
		return nil, errors.Join(err, s.remove())
	}
	if err := s.up(ctx); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

// find looks for the server's program, and asks it where the files are that came with it.
func (s *Server) find(ctx context.Context) error {
	for _, name := range []string{"mariadbd", "/usr/sbin/mariadbd", "/usr/libexec/mariadbd"} {
		if path, err := exec.LookPath(name); err == nil {
			s.program = path
			break
		}
	}
	if s.program == "" {
		return ErrMissing
	}
	help := exec.CommandContext(ctx, s.program, "--no-defaults", "--verbose", "--help") //nolint:gosec // the program that was found
	out, err := help.Output()
	if err != nil {
		return fmt.Errorf("ask %s for its settings: %w", s.program, err)
	}
	for line := range strings.Lines(string(out)) {
		if name, value, _ := strings.Cut(line, " "); name == "character-sets-dir" {
			s.share = filepath.Dir(filepath.Clean(strings.TrimSpace(value)))
		}
	}
	if _, err := os.Stat(filepath.Join(s.share, systemTables[0])); err != nil {
		return fmt.Errorf("%w (%w)", ErrMissing, err)
	}
	return nil
}

// systemTables are the files that make the system's own tables. The script that comes with the server does the same with
// them, but needs programs of the client.
var systemTables = []string{"mysql_system_tables.sql", "mysql_performance_tables.sql", "mysql_system_tables_data.sql"}

// make fills the folder of the server.
func (s *Server) make(ctx context.Context) error {
	var err error
	if s.folder, err = keeper.Folder(s.as, "sgam-maria-"); err != nil {
		return err
	}
	if err := os.Mkdir(s.data(), 0o700); err != nil {
		return err
	}
	if who := s.as.Credential; who != nil {
		if err := os.Chown(s.data(), int(who.Uid), int(who.Gid)); err != nil {
			return err
		}
	}
	making := []byte("create database mysql;\nuse mysql;\n")
	for _, name := range systemTables {
		text, err := os.ReadFile(filepath.Join(s.share, name)) //nolint:gosec // came with the server
		if err != nil {
			return err
		}
		making = append(making, text...)
	}
	boot := exec.CommandContext(ctx, s.program, s.flags("--bootstrap", "--innodb-flush-log-at-trx-commit=0")...) //nolint:gosec // likewise
	boot.SysProcAttr, boot.Dir, boot.Stdin = s.as, s.folder, bytes.NewReader(making)
	if out, err := boot.CombinedOutput(); err != nil {
		return fmt.Errorf("mariadbd --bootstrap: %w: %s", err, out)
	}
	return nil
}

func (s *Server) data() string { return filepath.Join(s.folder, "data") }

func (s *Server) socket() string { return filepath.Join(s.folder, "socket") }

// flags are the settings of the server. Its memory is that of the PostgreSQL servers that tests get.
func (s *Server) flags(more ...string) []string {
	return append([]string{
		"--no-defaults", "--datadir=" + s.data(), "--socket=" + s.socket(), "--pid-file=" + filepath.Join(s.data(), "pid"),
		"--skip-networking", "--skip-log-bin", "--innodb-buffer-pool-size=128M", "--innodb-log-file-size=256M", "--max-connections=200",
		"--character-set-server=utf8mb4", "--collation-server=utf8mb4_bin", "--default-time-zone=+00:00",
	}, more...)
}

// up starts the server, and returns when it answers.
func (s *Server) up(ctx context.Context) error {
	through := "--innodb-flush-log-at-trx-commit=0"
	if s.durable {
		through = "--innodb-flush-log-at-trx-commit=1"
	}
	var err error
	if s.server, err = keeper.Run(s.folder, s.as, "KILL", append([]string{s.program}, s.flags(through)...)...); err != nil {
		return err
	}
	return s.server.Answers(ctx, func(ctx context.Context) error { return s.Do(ctx, "") })
}

// Stop ends the server and removes its folder.
func (s *Server) Stop() error { return errors.Join(s.server.End(), s.remove()) }

func (s *Server) remove() error {
	if s.folder == "" {
		return nil
	}
	return os.RemoveAll(s.folder)
}

// Config is how the driver connects to a database of the server, as the user who may do everything. Times are UTC. Statements with
// arguments are prepared on the server.
func (s *Server) Config(database string) *mysql.Config {
	c := mysql.NewConfig()
	c.User, c.Net, c.Addr, c.DBName = "root", "unix", s.socket(), database
	c.ParseTime, c.Loc = true, time.UTC
	return c
}

// Do connects to a database and runs statements.
func (s *Server) Do(ctx context.Context, database string, statements ...string) (err error) {
	config := s.Config(database)
	config.Logger = &mysql.NopLogger{} // a server that is still starting is no news
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return err
	}
	db := sql.OpenDB(connector)
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetMaxOpenConns(1)
	if err := db.PingContext(ctx); err != nil {
		return err
	}
	for _, text := range statements {
		if _, err := db.ExecContext(ctx, text); err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
	}
	return nil
}
