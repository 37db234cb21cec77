//go:build !cgo

package sqlite

import (
	"context"

	"github.com/sgam-ledger/sgam"
)

// Open returns ErrNoCgo: the program was built without cgo.
func Open(context.Context, string, *sgam.Options) (*sgam.Ledger, error) { return nil, ErrNoCgo }

// OpenCopy returns ErrNoCgo: the program was built without cgo.
func OpenCopy(context.Context, string, []byte, *sgam.Options) (*sgam.Ledger, error) {
	return nil, ErrNoCgo
}

// OpenStore returns ErrNoCgo: the program was built without cgo.
func OpenStore(context.Context, string, *sgam.Options) (sgam.Store, error) { return nil, ErrNoCgo }

// Upgrade returns ErrNoCgo: the program was built without cgo.
func Upgrade(context.Context, string) error { return ErrNoCgo }
