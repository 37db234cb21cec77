package rivals

import (
	"math"

	"github.com/sgam-ledger/sgam"
)

// Kind is what an operation does to a slot.
type Kind string

// The kinds of operations. What they are called in SQL is a portion update, a portion delete, and a portion delete with an
// insert; a portion that reaches for ever is a change from now on.
const (
	Begin   Kind = "begin"   // the first value of a slot
	Change  Kind = "change"  // another value from an instant on, later than all that is known of the slot
	Correct Kind = "correct" // another value in a portion, in all of which there is one
	Update  Kind = "update"  // another value in a portion, wherever there is one
	Put     Kind = "put"     // a value in a portion, whatever was there
	Void    Kind = "void"    // no value in a portion
)

// Operation is one step of a history. Known times differ between systems, so it is known by its number: the first operation is
// number 1.
type Operation struct {
	Kind  Kind
	Slot  int64
	Valid sgam.Span
	Value string
}

// standing is the end of what is still believed.
const standing = math.MaxInt

// Rectangle is a value in a region of the plane: a half-open interval of valid time, and one of known time, told by the numbers of the
// operations that began and ended it.
type Rectangle struct {
	Slot     int64
	Valid    sgam.Span
	From, To int
	Value    string
}
