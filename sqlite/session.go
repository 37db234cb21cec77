//go:build cgo

package sqlite

import (
	"context"
	"database/sql/driver"

	"github.com/sgam-ledger/sgam"
)

// session is a run of statements on one connection for one caller. It looks at the caller's context before each.
type session struct {
	*conn
	ctx    context.Context
	tenant int64
}

func (s *session) query(st *statement, args ...driver.Value) (*running, error) {
	if err := s.ctx.Err(); err != nil {
		return nil, err
	}
	return s.conn.query(st, args...)
}

func (s *session) one(st *statement, args ...driver.Value) (*running, error) {
	if err := s.ctx.Err(); err != nil {
		return nil, err
	}
	return s.conn.one(st, args...)
}

func (s *session) exec(st *statement, args ...driver.Value) error {
	if err := s.ctx.Err(); err != nil {
		return err
	}
	return s.conn.exec(st, args...)
}

// each calls yield for every row of a statement, until it fails.
func (s *session) each(yield func(*running) error, st *statement, args ...driver.Value) error {
	p, err := s.query(st, args...)
	if err != nil {
		return err
	}
	for p.next() {
		if err = s.ctx.Err(); err == nil {
			err = yield(p)
		}
		if err != nil {
			break
		}
	}
	if cerr := p.close(); cerr != nil {
		return cerr
	}
	return err
}

// The texts of Go's types in the file, and back.

func blob(s string) []byte {
	if s == "" {
		return []byte{}
	}
	return []byte(s)
}

// orNull is NULL for an empty value.
func orNull[T ~string | ~[]byte](v T) driver.Value {
	if len(v) == 0 {
		return nil
	}
	return []byte(v)
}

// idOrNull is NULL for none.
func idOrNull(id int64) driver.Value {
	if id == 0 {
		return nil
	}
	return id
}

func memoryOrNull(id sgam.MemoryID) driver.Value {
	if id.IsZero() {
		return nil
	}
	return id[:]
}

func numberOrNull(f *float64) driver.Value {
	if f == nil {
		return nil
	}
	return *f
}

func flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
