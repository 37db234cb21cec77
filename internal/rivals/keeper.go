package rivals

import (
	"context"

	"github.com/sgam-ledger/sgam"
)

// Keeper is one of those that are compared. Values are never empty: an empty answer says that there is none.
type Keeper interface {
	// Name is what the tables call it.
	Name() string
	// Load brings it through operations, each at a known time of its own, and remembers them by their numbers. It need not be durable
	// before Settle.
	Load(ctx context.Context, ops []Operation) error
	// Settle does what its manual advises after a load, and what a server does by itself when it is left in peace.
	Settle(ctx context.Context) error
	// Write does one operation, durably, at the time of the clock. It is for concurrent use.
	Write(ctx context.Context, op Operation) error
	// Current is the value that is true now.
	Current(ctx context.Context, slot int64) (string, error)
	// Valid is what is believed now about an instant.
	Valid(ctx context.Context, slot int64, valid sgam.Instant) (string, error)
	// ValidKnown is what was believed about an instant after the operation of a number.
	ValidKnown(ctx context.Context, slot int64, valid sgam.Instant, n int) (string, error)
	// Rectangles are all that it holds of what was loaded.
	Rectangles(ctx context.Context) ([]Rectangle, error)
	// Size is what it takes up on disk.
	Size(ctx context.Context) (Size, error)
	Close() error
}

// Size is what a keeper takes up on disk, in bytes of whole pages.
type Size struct {
	// All is everything that belongs to the history. Rectangles is the table of the rectangles with its indexes, which is
	// everything for those that have no other.
	All, Rectangles int64
}
