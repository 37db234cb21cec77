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
//
// A connection is what it is: what was seen of it is remembered with it.
func (s *store) seePooler(ctx context.Context, c *session, warn func(error)) error {
	if s.unprepared || s.prepared {
		return nil
	}
	const key = "sgam_pooled"
	pooled, seen := c.conn.CustomData()[key].(bool)
	if !seen {
		var err error
		if pooled, err = c.isPooled(ctx); err != nil {
			return err
		}
		c.conn.CustomData()[key] = pooled
	}
	if !pooled {
		return nil
	}
	s.unprepared, c.unprepared = true, true
	if warn != nil {
		warn(ErrPooled)
	}
	return nil
}

// isPooled reports whether the connection is to somebody in between who hands names of statements through.
func (s *session) isPooled(ctx context.Context) (bool, error) {
	// No other client has that name, and the statement is closed in the same round trip, which is one transaction: the pooler
	// cannot come in between, and nothing is left on the server connection.
	probe := &statement{name: "probe_" + rand.Text(), text: stBackend.text}
	var backend, kept int64
	s.add(func(r row) error { backend = r.int(0); return nil }, probe)
	s.steps = append(s.steps,
		step{st: stKeptNames, args: [][]byte{[]byte(prepared(probe))}, ofText: true, each: func(r row) error { kept = r.int(0); return nil }},
		step{st: probe, closes: true})
	if err := s.run(ctx); err != nil {
		return false, err
	}
	return backend != int64(s.conn.PID()) && kept > 0, nil
}
