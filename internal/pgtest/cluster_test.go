package pgtest

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

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// dying makes the test binary a program that starts a cluster and its pooler, prints their folders and waits to be killed.
const dying = "SGAM_TEST_DYING_PROCESS"

func TestMain(m *testing.M) {
	if os.Getenv(dying) != "" {
		c, err := Start(context.Background(), false)
		if err != nil {
			os.Exit(1)
		}
		p, err := c.Pooler(context.Background(), 1)
		if err != nil {
			os.Exit(1)
		}
		_, _ = os.Stdout.WriteString(c.folder + " " + p.folder + "\n")
		select {}
	}
	os.Exit(m.Run())
}

func started(t *testing.T, durable bool) *Cluster {
	t.Helper()
	Long(t)
	c, err := Start(t.Context(), durable)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Stop()) })
	return c
}

func TestAServerListensOnItsSocketAlone(t *testing.T) {
	c := started(t, false)
	require.NoError(t, c.Do(t.Context(), "postgres", "DO $$ BEGIN ASSERT current_setting('listen_addresses') = ''; ASSERT current_setting('fsync') = 'off'; END $$"))
	assert.Error(t, c.Do(t.Context(), "postgres", "DO $$ BEGIN ASSERT current_setting('fsync') = 'on'; END $$"), "a wrong setting is noticed")
	assert.FileExists(t, filepath.Join(c.folder, ".s.PGSQL.5432.lock"))
}

func TestACrashKeepsWhatWasCommitted(t *testing.T) {
	c := started(t, true)
	require.NoError(t, c.Do(t.Context(), "postgres", "CREATE TABLE kept (n int)", "INSERT INTO kept VALUES (1)"))
	require.NoError(t, c.Crash())
	require.Error(t, c.Do(t.Context(), "postgres", "SELECT 1"))
	require.NoError(t, c.Up(t.Context()))
	require.NoError(t, c.Do(t.Context(), "postgres", "DO $$ BEGIN ASSERT (SELECT count(*) FROM kept) = 1; END $$"))
}

func TestServersAreGoneWithTheProcessThatStartedThem(t *testing.T) {
	Long(t)
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
	folders := strings.Fields(string(text[:n]))
	require.Len(t, folders, 2)
	for _, folder := range folders {
		require.DirExists(t, folder)
	}
	require.NoError(t, child.Process.Kill())
	require.Error(t, child.Wait())
	for _, folder := range folders {
		require.Eventually(t, func() bool {
			_, err := os.Stat(folder)
			return errors.Is(err, fs.ErrNotExist)
		}, 30*time.Second, 10*time.Millisecond, "the folder goes, and so the server is gone")
	}
}

func TestAMissingInstallationIsNamedWithItsCure(t *testing.T) {
	require.ErrorContains(t, ErrMissing, "PostgreSQL")
	require.ErrorContains(t, ErrMissing, "apt-get install")
}
