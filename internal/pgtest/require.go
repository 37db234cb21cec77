package pgtest

import (
	"os"
	"testing"
)

// Long skips a test that needs a server, unless SGAM_ALL is set: the quick tests need none, and then everything has to run.
func Long(tb testing.TB) {
	tb.Helper()
	if os.Getenv("SGAM_ALL") == "" {
		tb.Skip("a PostgreSQL server of its own is started for it: set SGAM_ALL=1")
	}
}
