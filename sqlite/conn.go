//go:build cgo

package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/internal/columns"

	sqlite3 "github.com/mattn/go-sqlite3"
)

// conn is one connection, used by one goroutine at a time. It speaks to the driver directly: through database/sql a
// point read costs half as much again, and a pool that opens and drops connections on its own is no place for the one
// that writes.
//
// A statement is never interrupted: a cancelled one would end its transaction, and the next one would commit by itself.
// Each is short, and whoever runs several looks at the context in between.
type conn struct {
	raw      *sqlite3.SQLiteConn
	prepared []*running
	around   func(st *statement, run func() error) error // set by tests and traces
}

// uninterrupted is the context of every statement.
var uninterrupted = context.Background()

// connect opens a connection and holds it against the settings of its role.
func connect(path string, r role) (*conn, error) {
	opened, err := (&sqlite3.SQLiteDriver{}).Open(r.dsn(path))
	if err != nil {
		return nil, fmt.Errorf("sgam: sqlite: open: %w", err)
	}
	raw, ok := opened.(*sqlite3.SQLiteConn)
	if !ok {
		return nil, errors.Join(fmt.Errorf("sgam: sqlite: the driver opened a %T", opened), opened.Close())
	}
	c := &conn{raw: raw, prepared: make([]*running, len(names))}
	if err := c.configure(r); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

// close releases the connection and its statements.
func (c *conn) close() error {
	var errs []error
	for _, p := range c.prepared {
		if p != nil {
			errs = append(errs, p.stmt.Close())
		}
	}
	return errors.Join(append(errs, c.raw.Close())...)
}

// inTransaction reports whether a transaction is open.
func (c *conn) inTransaction() bool { return !c.raw.AutoCommit() }

// running is a statement prepared on one connection, and its cursor while it runs. One statement runs once at a time.
type running struct {
	of   *statement
	stmt *sqlite3.SQLiteStmt
	args []driver.NamedValue
	rows driver.Rows
	row  []driver.Value
	err  error
}

// query runs a statement. The caller walks the rows with next and must close the cursor; the values of a row stay
// readable until the next query of the same statement.
func (c *conn) query(st *statement, args ...driver.Value) (*running, error) {
	p := c.prepared[st.index]
	if p == nil {
		var err error
		if p, err = c.prepare(st); err != nil {
			return nil, err
		}
		c.prepared[st.index] = p
	}
	if p.rows != nil {
		return nil, fmt.Errorf("sgam: sqlite: statement %s runs already", st.name)
	}
	p.args = p.args[:0]
	for i, a := range args {
		p.args = append(p.args, driver.NamedValue{Ordinal: i + 1, Value: a})
	}
	run := func() (err error) {
		p.rows, err = p.stmt.QueryContext(uninterrupted, p.args)
		return err
	}
	var err error
	if c.around != nil {
		err = c.around(st, run)
	} else {
		err = run()
	}
	clear(p.args)
	if err != nil {
		p.rows = nil
		return nil, st.failed(err)
	}
	p.err = nil
	if n := len(p.rows.Columns()); n != len(p.row) {
		p.row = make([]driver.Value, n)
	}
	return p, nil
}

func (c *conn) prepare(st *statement) (*running, error) {
	prepared, err := c.raw.Prepare(st.text)
	if err != nil {
		return nil, st.failed(err)
	}
	stmt, ok := prepared.(*sqlite3.SQLiteStmt)
	if !ok {
		return nil, errors.Join(fmt.Errorf("sgam: sqlite: the driver prepared a %T", prepared), prepared.Close())
	}
	return &running{of: st, stmt: stmt}, nil
}

func (st *statement) failed(err error) error {
	if isCode(err, sqlite3.ErrBusy) || isCode(err, sqlite3.ErrLocked) {
		return fmt.Errorf("%w: sqlite: %s: %w", sgam.ErrBusy, st.name, err)
	}
	return fmt.Errorf("sgam: sqlite: %s: %w", st.name, err)
}

func isCode(err error, code sqlite3.ErrNo) bool {
	failure, ok := errors.AsType[sqlite3.Error](err)
	return ok && failure.Code == code
}

// next moves to the next row and reports whether there is one.
func (p *running) next() bool {
	if err := p.rows.Next(p.row); err != nil {
		if !errors.Is(err, io.EOF) {
			p.err = p.of.failed(err)
		}
		return false
	}
	return true
}

// close ends the cursor, and tells what went wrong since the query.
func (p *running) close() error {
	err := p.rows.Close()
	p.rows = nil
	if p.err == nil && err != nil {
		p.err = p.of.failed(err)
	}
	return p.err
}

// one runs a statement for its first row, which stays readable until the same statement runs again. Without a row it is
// nil.
func (c *conn) one(st *statement, args ...driver.Value) (*running, error) {
	p, err := c.query(st, args...)
	if err != nil {
		return nil, err
	}
	found := p.next()
	if err := p.close(); err != nil {
		return nil, err
	}
	if !found {
		return nil, nil
	}
	return p, nil
}

// exec runs a statement that answers nothing.
func (c *conn) exec(st *statement, args ...driver.Value) error {
	p, err := c.query(st, args...)
	if err != nil {
		return err
	}
	p.next()
	return p.close()
}

// The values of the row. A NULL is the zero value.

func (p *running) null(i int) bool { return p.row[i] == nil }

func (p *running) int(i int) int64 {
	n, _ := p.row[i].(int64)
	return n
}

func (p *running) instant(i int) sgam.Instant { return sgam.Instant(p.int(i)) }

func (p *running) span(i int) sgam.Span { return sgam.Span{From: p.instant(i), To: p.instant(i + 1)} }

func (p *running) text(i int) string {
	s, _ := p.row[i].(string)
	return s
}

// bytes is a blob; an empty one is nil.
func (p *running) bytes(i int) []byte {
	b, _ := p.row[i].([]byte)
	if len(b) == 0 {
		return nil
	}
	return b
}

func (p *running) memory(i int) sgam.MemoryID {
	var id sgam.MemoryID
	copy(id[:], p.bytes(i))
	return id
}

func (p *running) confidence(i int) *float64 {
	f, ok := p.row[i].(float64)
	if !ok {
		return nil
	}
	return &f
}

// from are the columns from i on, as what is stored in them.
func (p *running) from(i int) columns.Columns { return columns.Columns{Cells: cells{p}, First: i} }

// cells are a row for package columns.
type cells struct{ *running }

func (c cells) Null(i int) bool      { return c.null(i) }
func (c cells) Int(i int) int64      { return c.int(i) }
func (c cells) Flag(i int) bool      { return c.int(i) == 1 }
func (c cells) Float(i int) *float64 { return c.confidence(i) }
func (c cells) Text(i int) string    { return c.text(i) }
func (c cells) Bytes(i int) []byte   { return c.bytes(i) }
