package scripttest

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const moduleDir = "../.."

// outcome is what a script did.
type outcome struct {
	code     int
	out, err string
}

// bash runs a piece of shell after scripts/tools.sh, in a folder whose go.mod asks for Go 1.26.0, without the variables that
// steer the scripts unless given.
func bash(t *testing.T, script, input string, env ...string) outcome {
	t.Helper()
	tools, err := filepath.Abs(filepath.Join(moduleDir, "scripts", "tools.sh"))
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example.com/m\n\ngo 1.26.0\n"), 0o600))
	return command(t, dir, input, env, "bash", "-c", "set -euo pipefail\n. \"$0\"\n"+script, tools)
}

func command(t *testing.T, dir, input string, env []string, name string, args ...string) outcome {
	t.Helper()
	c := exec.CommandContext(t.Context(), name, args...)
	c.Dir = dir
	c.Stdin = strings.NewReader(input)
	for _, variable := range os.Environ() {
		switch key, _, _ := strings.Cut(variable, "="); key {
		case "CI", "CC", "GOTOOLCHAIN", "GOFLAGS", "SSL_CERT_FILE", "SSL_CERT_DIR", "SGAM_ALL", "SGAM_TALLY":
		default:
			c.Env = append(c.Env, variable)
		}
	}
	c.Env = append(c.Env, env...)
	var out, complaints bytes.Buffer
	c.Stdout, c.Stderr = &out, &complaints
	err := c.Run()
	if _, failed := errors.AsType[*exec.ExitError](err); !failed {
		require.NoError(t, err)
	}
	return outcome{c.ProcessState.ExitCode(), out.String(), complaints.String()}
}
