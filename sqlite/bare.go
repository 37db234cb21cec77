//go:build cgo

package sqlite

import (
	"database/sql/driver"
	"slices"
)

// What benchmarks need to hold the engine against the driver alone: the same settings, the same statements, and what
// exactly a write runs. They reach these methods through an interface of their own, since the port has no use for them.

// Connect opens a connection of the driver to the store's file, with the settings of those that the store itself reads
// or writes with. The caller closes it.
func (s *store) Connect(write bool) (driver.Conn, error) {
	r := reading
	if write {
		r = writing
	}
	c, err := connect(s.path, r)
	if err != nil {
		return nil, err
	}
	return c.raw, nil
}

// Statement is the text of a named statement, empty when there is none of that name.
func (s *store) Statement(name string) string { return texts[name] }

// Trace reports every statement that a write runs from now on, in order, with arguments that are the callee's to keep.
// Nil ends it.
func (s *store) Trace(report func(name string, args []driver.Value)) {
	g := &s.writes
	<-g.turn
	defer func() { g.turn <- struct{}{} }()
	g.around = nil
	if report != nil {
		g.around = func(st *statement, run func() error) error {
			bound := g.conn.prepared[st.index].args
			args := make([]driver.Value, len(bound))
			for i, a := range bound {
				args[i] = a.Value
				if b, ok := a.Value.([]byte); ok {
					args[i] = slices.Clone(b)
				}
			}
			report(st.name, args)
			return run()
		}
	}
	if g.conn != nil {
		g.conn.around = g.around
	}
}
