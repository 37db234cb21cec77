package pgtest

import (
	"errors"
	"os"
	"testing"
)

// Need stops a test that has no server, with the reason why there is none. A machine without PostgreSQL skips the test,
// unless SGAM_ALL is set: then everything has to run.
func Need(tb testing.TB, err error) {
	tb.Helper()
	switch {
	case err == nil:
	case errors.Is(err, ErrMissing) && os.Getenv("SGAM_ALL") == "":
		tb.Skip(err)
	default:
		tb.Fatal(err)
	}
}
