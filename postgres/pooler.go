package postgres

import (
	"context"
	"crypto/rand"
)

var (
	stBackend   = named("backend")
	stKeptNames = named("kept_names")
)

// seePooler finds out whether statements can be prepared, before any is.
//
// A pooler in transaction mode runs each transaction on the server connection that is free. If it does not know prepared
// statements, what was prepared is then missing, or is there already, from another client: mostly that is an error, and if the
// other client is a program of another version it is the wrong statement, without one. Whether that happens depends on who
// else is at work, so to wait for the error would be to find out in production. Two facts tell, each time:
//
//   - The server's process number is not the one that the connection was told in the beginning. Then somebody stands in
//     between who speaks for the server.
//   - The server has a prepared statement under the name that was sent. A pooler that knows prepared statements gives them
//     names of its own, since it prepares them wherever they are needed.
//
// Somebody in between who hands names through is safe only while a client keeps its server connection, which cannot be seen.
// So statements are sent as text then. A program need not be told, and those that measure are.
func (s *store) seePooler(ctx context.Context, c *session, engine *Options) error {
	if engine.Unprepared || engine.Prepared {
		return nil
	}
	// No other client has that name, and the statement is closed in the same round trip, which is one transaction: the pooler
	// cannot come in between, and nothing is left on the server connection.
	probe := &statement{name: "probe_" + rand.Text(), text: stBackend.text}
	var backend, kept int64
	c.add(func(r row) error { backend = r.int(0); return nil }, probe)
	c.steps = append(c.steps,
		step{st: stKeptNames, args: [][]byte{[]byte(prepared(probe))}, ofText: true, each: func(r row) error { kept = r.int(0); return nil }},
		step{st: probe, closes: true})
	if err := c.run(ctx); err != nil {
		return err
	}
	if backend == int64(c.conn.Conn().PgConn().PID()) || kept == 0 {
		return nil
	}
	s.unprepared, c.unprepared = true, true
	if engine.Warn != nil {
		engine.Warn(ErrPooled)
	}
	return nil
}
