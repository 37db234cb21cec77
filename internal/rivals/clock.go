package rivals

import (
	"fmt"
	"time"

	"github.com/sgam-ledger/sgam"
)

// firstKnown is before the first operation. Those that let a known time be given take one that follows from the number of the
// operation; it is in the past, so that what is written later is later.
var firstKnown = time.Date(2021, 1, 1, 0, 0, 0, 0, time.UTC)

const step = time.Minute

// knownAt is the known time of the operation of a number.
func knownAt(n int) time.Time { return firstKnown.Add(time.Duration(n) * step) }

// numberOf is the number of the operation of a known time.
func numberOf(known time.Time) (int, error) {
	since := known.Sub(firstKnown)
	if since <= 0 || since%step != 0 {
		return 0, fmt.Errorf("no operation was known at %s", known)
	}
	return int(since / step), nil
}

// instant is a time on the axes of the ledger.
func instant(t time.Time) sgam.Instant { return sgam.Instant(t.UnixMicro()) }
