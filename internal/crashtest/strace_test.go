//go:build cgo && unix

package crashtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// lastingCalls are the system calls by which a program leaves something behind; one that a machine does not have is passed
// over. What is written through the shared memory beside the write-ahead log does not count: nobody trusts it after the
// last process is gone.
const lastingCalls = "?pwrite64,?pwritev,?write,?writev,?fdatasync,?fsync,?ftruncate,?truncate,?fallocate,?unlink,?unlinkat," +
	"?rename,?renameat,?renameat2,?link,?linkat"

// needStrace skips the test where system calls cannot be traced, and fails it in the long run, which has to have all.
func needStrace(t *testing.T) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "strace", "-f", "-qq", "-o", os.DevNull, "-e", "trace="+lastingCalls, "true").CombinedOutput()
	switch {
	case err == nil:
	case all():
		require.NoError(t, err, "strace cannot trace here: %s", out)
	default:
		t.Skipf("strace cannot trace here: %v %s", err, out)
	}
}

// tracing is the command under which a child's calls on some files are traced into a log. An injection makes one of them
// go wrong; strace counts the calls of each thread by itself.
func tracing(log string, files []string, injection string) []string {
	line := []string{"strace", "-f", "-qq", "-e", "signal=none", "-o", log, "-e", "trace=" + lastingCalls}
	for _, f := range files {
		line = append(line, "-P", f)
	}
	if injection != "" {
		line = append(line, "-e", "inject="+injection)
	}
	return line
}

// filesOf are the files that a ledger may write: its own, their drafts, and their directory.
func filesOf(path string) []string {
	files := []string{filepath.Dir(path)}
	for _, suffix := range []string{"", "-wal", "-shm", "-journal", ".keys", ".keys.new"} {
		files = append(files, path+suffix)
	}
	return files
}

var callLine = regexp.MustCompile(`^(\d+) +([a-z0-9_]+)\(`)

// countCalls reads a log: how many calls of each kind there were. All must be of one thread, or counting them is no use.
func countCalls(t *testing.T, log string) map[string]int {
	t.Helper()
	text, err := os.ReadFile(log)
	require.NoError(t, err)
	calls, threads := map[string]int{}, map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if m := callLine.FindStringSubmatch(line); m != nil {
			threads[m[1]] = true
			calls[m[2]]++
		}
	}
	require.Len(t, threads, 1, "calls came from several threads")
	return calls
}

// points are the places where something can be injected: every call of the kinds.
func points(calls map[string]int, kinds []string) (found []point) {
	for _, kind := range kinds {
		for n := 1; n <= calls[kind]; n++ {
			found = append(found, point{kind, n, calls[kind]})
		}
	}
	return found
}

// sampled are at most so many of the points, spread evenly.
func sampled(points []point, most int) []point {
	if len(points) <= most {
		return points
	}
	sample := make([]point, most)
	for i := range sample {
		sample[i] = points[i*len(points)/most]
	}
	return sample
}

type point struct {
	kind  string
	n, of int
}

func (p point) String() string { return fmt.Sprintf("%s %d of %d", p.kind, p.n, p.of) }
