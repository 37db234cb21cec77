package mariatest

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam/internal/pgtest"
)

// dying makes the test binary a program that starts a server, prints its folder and waits to be killed.
const dying = "SGAM_TEST_DYING_PROCESS"

func TestMain(m *testing.M) {
	if os.Getenv(dying) != "" {
		s, err := Start(context.Background(), false)
		if err != nil {
			os.Exit(1)
		}
		_, _ = os.Stdout.WriteString(s.folder + "\n")
		select {}
	}
	os.Exit(m.Run())
}

func started(t *testing.T, durable bool) *Server {
	t.Helper()
	pgtest.Long(t)
	s, err := Start(t.Context(), durable)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Stop()) })
	return s
}

// holds fails unless the server finds a condition true.
func holds(condition string) string {
	return "begin not atomic if not (" + condition + ") then signal sqlstate '45000' set message_text = 'it does not hold'; end if; end"
}

func TestAServerListensOnItsSocketAlone(t *testing.T) {
	t.Parallel()
	s := started(t, false)
	require.NoError(t, s.Do(t.Context(), "", holds("@@skip_networking = 1 and @@innodb_flush_log_at_trx_commit = 0 and @@time_zone = '+00:00'")))
	require.ErrorContains(t, s.Do(t.Context(), "", holds("@@skip_networking = 0")), "it does not hold", "a wrong setting is noticed")
	socket, err := os.Lstat(s.socket())
	require.NoError(t, err)
	require.Equal(t, fs.ModeSocket, socket.Mode().Type())
	require.NoError(t, s.Stop())
	require.NoDirExists(t, s.folder)
}

func TestADurableServerWritesEachCommitThrough(t *testing.T) {
	t.Parallel()
	s := started(t, true)
	require.NoError(t, s.Do(t.Context(), "", holds("@@innodb_flush_log_at_trx_commit = 1 and @@innodb_doublewrite = 1")))
	require.NoError(t, s.Do(t.Context(), "", "create database kept", "create table kept.kept (n int) engine=innodb", "insert into kept.kept values (1)"))
	require.NoError(t, s.Do(t.Context(), "kept", holds("(select count(*) from kept) = 1")))
}

func TestAServerIsGoneWithTheProcessThatStartedIt(t *testing.T) {
	t.Parallel()
	pgtest.Long(t)
	self, err := os.Executable()
	require.NoError(t, err)
	child := exec.CommandContext(t.Context(), self)
	child.Env = append(os.Environ(), dying+"=1")
	out, err := child.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	text := make([]byte, 256)
	n, err := out.Read(text)
	require.NoError(t, err)
	folder := strings.TrimSpace(string(text[:n]))
	require.FileExists(t, filepath.Join(folder, "data", "pid"))
	require.NoError(t, child.Process.Kill())
	require.Error(t, child.Wait())
	require.Eventually(t, func() bool {
		_, err := os.Stat(folder)
		return errors.Is(err, fs.ErrNotExist)
	}, 30*time.Second, 10*time.Millisecond, "the folder goes, and so the server is gone")
}

func TestAMissingInstallationIsNamedWithItsCure(t *testing.T) {
	t.Parallel()
	require.ErrorContains(t, ErrMissing, "MariaDB")
	require.ErrorContains(t, ErrMissing, "apt-get install")
}
