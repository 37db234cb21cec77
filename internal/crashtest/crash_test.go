//go:build cgo && unix

package crashtest

import (
	"fmt"
	"maps"
	"slices"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDeathAtEveryLastingCall kills a program right before each system call by which it would have left something behind,
// the acknowledgements included.
func TestDeathAtEveryLastingCall(t *testing.T) {
	needStrace(t)
	after := rehearse(t)
	dry := newTheatre(t)
	require.Zero(t, dry.perform(true, append(filesOf(dry.path), dry.acks), ""))
	require.Len(t, acked(dry.events()), scriptSize, "undisturbed, everything is acknowledged")
	dry.examine(after, acked(dry.events()), false)
	calls := countCalls(t, dry.log)
	t.Logf("calls: %v", calls)
	calls["sync"] = calls["fsync"] + calls["fdatasync"]
	for _, kind := range []string{"pwrite64", "write", "sync", "ftruncate"} {
		require.NotZero(t, calls[kind], "no %s: the trace does not see the ledger's files", kind)
	}
	delete(calls, "sync")
	every := points(calls, slices.Sorted(maps.Keys(calls)))
	for _, p := range sampled(every, few(24, len(every))) {
		t.Run(p.String(), func(t *testing.T) {
			t.Parallel()
			h := newTheatre(t)
			code := h.perform(true, append(filesOf(h.path), h.acks), fmt.Sprintf("%s:signal=KILL:when=%d", p.kind, p.n))
			require.Equal(t, -int(syscall.SIGKILL), code, "the program survived")
			h.examine(after, acked(h.events()), true)
		})
	}
}
