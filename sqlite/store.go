//go:build cgo

package sqlite

import (
	"context"
	"errors"
	"sync"

	"github.com/sgam-ledger/sgam"
)

// store is the engine over one file.
type store struct {
	path     string
	readOnly bool
	key      []byte
	readers  *pool
	writes   group
	keeper   *conn // of a store that only reads

	// life is held for reading by every read, so that closing waits for them.
	life   sync.RWMutex
	closed bool
}

var (
	_ sgam.Store    = (*store)(nil)
	_ sgam.RunStore = (*store)(nil)
)

// Engine is "sqlite".
func (s *store) Engine() string { return "sqlite" }

// DigestKey is the ledger's secret. Callers must not change it.
func (s *store) DigestKey() []byte { return s.key }

// reader lends a connection that reads, until the function that it returns is called with the read's error.
func (s *store) reader(ctx context.Context) (*conn, func(error) error, error) {
	s.life.RLock()
	if s.closed {
		s.life.RUnlock()
		return nil, nil, sgam.ErrClosed
	}
	c, err := s.readers.take(ctx)
	if err != nil {
		s.life.RUnlock()
		return nil, nil, err
	}
	return c, func(err error) error {
		defer s.life.RUnlock()
		return s.readers.give(c, err)
	}, nil
}

// Close waits for reads and writes under way and releases the file.
func (s *store) Close() error {
	s.life.Lock()
	defer s.life.Unlock()
	if s.closed {
		return sgam.ErrClosed
	}
	s.closed = true
	// Whoever could write goes last: the last connection to a file takes the files of its log away.
	errs := []error{s.readers.close(), s.writes.close()}
	if s.keeper != nil {
		errs = append(errs, s.keeper.close())
	}
	return errors.Join(errs...)
}
