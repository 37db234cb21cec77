//go:build cgo

package sqlite

import (
	"context"
	"errors"
	"runtime"

	sqlite3 "github.com/mattn/go-sqlite3"
)

// pool keeps connections that read. They are opened when they are first needed, as many as can be at work at once.
type pool struct {
	path string
	role role // reading, or frozen
	free chan *conn
	room chan struct{} // one token for each connection that may still be opened
}

func newPool(path string) *pool {
	n := max(4, runtime.GOMAXPROCS(0))
	p := &pool{path: path, free: make(chan *conn, n), room: make(chan struct{}, n)}
	for range n {
		p.room <- struct{}{}
	}
	return p
}

// take waits for a connection.
func (p *pool) take(ctx context.Context) (*conn, error) {
	select {
	case c := <-p.free:
		return c, nil
	default:
	}
	select {
	case c := <-p.free:
		return c, nil
	case <-p.room:
		c, err := connect(p.path, p.role)
		if err != nil {
			p.room <- struct{}{}
			return nil, err
		}
		return c, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// give takes a connection back after a read that ended with an error or nil, and returns that error. A connection that
// may be in a bad state is dropped.
func (p *pool) give(c *conn, err error) error {
	if _, failed := errors.AsType[sqlite3.Error](err); !failed && !c.inTransaction() {
		p.free <- c
		return err
	}
	p.room <- struct{}{}
	return errors.Join(err, c.close())
}

// close releases the connections. None may be in use.
func (p *pool) close() error {
	var errs []error
	for {
		select {
		case c := <-p.free:
			errs = append(errs, c.close())
		default:
			return errors.Join(errs...)
		}
	}
}
