package transfer

import (
	"errors"
	"fmt"

	"github.com/sgam-ledger/sgam"
)

// ErrOtherKey says that the digests of the two ledgers are keyed with different secrets: neither is a copy of the other.
var ErrOtherKey = errors.New("transfer: the ledgers have different digest keys")

// OtherHistoryError names what the target holds and the original does not. It matches [sgam.ErrOtherHistory].
type OtherHistoryError struct {
	Tenant string
	// Whole says that the original has no such tenant. Otherwise it has another last call.
	Whole bool
}

func (e *OtherHistoryError) Error() string {
	if e.Whole {
		return fmt.Sprintf("transfer: the target has tenant %q, which the original has not", e.Tenant)
	}
	return fmt.Sprintf("transfer: tenant %q of the target was written by somebody else", e.Tenant)
}

// Is matches [sgam.ErrOtherHistory].
func (e *OtherHistoryError) Is(target error) bool { return target == sgam.ErrOtherHistory }
