package bench

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"strings"
)

// bare is the driver alone: a connection with the engine's settings, and statements that are prepared once.
type bare struct {
	conn     driver.Conn
	ctx      context.Context // of the statements; it is never cancelled, or the driver would watch it for each of them
	prepared map[string]*bareStatement
}

type bareStatement struct {
	ctx     context.Context
	stmt    runnable
	answers bool // it has rows
	row     []driver.Value
}

// runnable is a statement of a driver that can do both.
type runnable interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// openBare opens a connection to the file of an engine.
func openBare(ctx context.Context, e Engine, write bool) (*bare, error) {
	conn, err := e.Connect(write)
	if err != nil {
		return nil, err
	}
	return newBare(ctx, conn), nil
}

func newBare(ctx context.Context, conn driver.Conn) *bare {
	return &bare{conn, context.WithoutCancel(ctx), map[string]*bareStatement{}}
}

func (b *bare) Close() error {
	var errs []error
	for _, p := range b.prepared {
		errs = append(errs, p.stmt.Close())
	}
	return errors.Join(append(errs, b.conn.Close())...)
}

// prepare compiles a statement, once.
func (b *bare) prepare(text string) (*bareStatement, error) {
	if p := b.prepared[text]; p != nil {
		return p, nil
	}
	stmt, err := b.conn.Prepare(text)
	if err != nil {
		return nil, err
	}
	can, ok := stmt.(runnable)
	if !ok {
		return nil, errors.Join(errors.New("the driver's statements cannot be run"), stmt.Close())
	}
	p := &bareStatement{ctx: b.ctx, stmt: can, answers: hasRows(text)}
	b.prepared[text] = p
	return p, nil
}

// prepareNamed compiles a statement of this package.
func (b *bare) prepareNamed(name string) (*bareStatement, error) {
	text, err := statement(name)
	if err != nil {
		return nil, err
	}
	return b.prepare(text)
}

// hasRows tells statements that have rows from those that only change something.
func hasRows(text string) bool {
	for line := range strings.Lines(text) {
		if word, _, _ := strings.Cut(strings.TrimSpace(line), " "); word != "--" {
			return word == "SELECT" || word == "WITH" || strings.Contains(text, "RETURNING")
		}
	}
	return false
}

// arguments are values as the driver takes them.
func arguments(values ...driver.Value) []driver.NamedValue {
	args := make([]driver.NamedValue, len(values))
	for i, v := range values {
		args[i] = driver.NamedValue{Ordinal: i + 1, Value: v}
	}
	return args
}

// run executes a statement and walks its rows.
func (p *bareStatement) run(args []driver.NamedValue) error {
	if !p.answers {
		_, err := p.stmt.ExecContext(p.ctx, args)
		return err
	}
	return p.each(args, func() error { return nil })
}

// errEnough ends a walk over rows.
var errEnough = errors.New("enough")

// first executes a statement for its first row. The values stay readable until it runs again.
func (p *bareStatement) first(args []driver.NamedValue) ([]driver.Value, error) {
	found := false
	err := p.each(args, func() error { found = true; return errEnough })
	if err == nil && !found {
		err = errors.New("no row where there has to be one")
	}
	return p.row, err
}

// each calls yield for every row, which is in p.row, until it fails.
func (p *bareStatement) each(args []driver.NamedValue, yield func() error) (err error) {
	rows, err := p.stmt.QueryContext(p.ctx, args)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	if width := len(rows.Columns()); width != len(p.row) {
		p.row = make([]driver.Value, width)
	}
	for {
		err := rows.Next(p.row)
		if err == nil {
			err = yield()
		}
		if errors.Is(err, io.EOF) || errors.Is(err, errEnough) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// The values of a row as what they are, or zero.

func number(v driver.Value) int64 { n, _ := v.(int64); return n }

func text(v driver.Value) string { s, _ := v.(string); return s }
