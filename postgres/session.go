package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5/pgconn"
)

// session is a connection that one caller has for a while. Statements are queued and go to the server together, in one
// round trip.
type session struct {
	conn       *pgconn.PgConn
	release    func() // gives the connection back
	unprepared bool   // statements are sent as text each time
	spread     bool   // the server is a Citus coordinator
	large      int    // calls with so many facts are copied through temporary tables, 0 for none
	temporary  bool   // its role may make temporary tables
	joined     bool   // the transaction is the caller's: it is there already, and stays
	tenant     int64
	steps      []step
	fault      error // of an argument: nothing is sent
	trips      int
}

// step is one statement on its way.
type step struct {
	st     *statement
	args   [][]byte
	each   func(row) error // nil when nothing is read
	owner  int             // of the session's caller, to tell whose statement failed
	ofText bool            // a text that is made each time, never prepared
	closes bool            // not run: the server forgets what it has prepared
}

// add queues a statement. each is called for every row of the answer; nil reads nothing.
func (s *session) add(each func(row) error, st *statement, args ...any) {
	s.addFor(0, each, st, args...)
}

// addFor queues a statement of an owner.
func (s *session) addFor(owner int, each func(row) error, st *statement, args ...any) {
	encoded := make([][]byte, len(args))
	for i, a := range args {
		var err error
		if encoded[i], err = encode(a); err != nil {
			s.fault = errors.Join(s.fault, fmt.Errorf("%s: %w", st.name, err))
		}
	}
	s.steps = append(s.steps, step{st: st, args: encoded, each: each, owner: owner})
}

// addText queues a statement whose text is made each time.
func (s *session) addText(st *statement, args ...any) {
	s.steps = append(s.steps, step{st: &statement{st.name, fmt.Sprintf(st.text, args...)}, ofText: true})
}

// addLiteral queues a statement without arguments that is not prepared.
func (s *session) addLiteral(owner int, st *statement) {
	s.steps = append(s.steps, step{st: st, owner: owner, ofText: true})
}

// begin queues the begin of a transaction. One of the caller's has begun already.
func (s *session) begin(st *statement) {
	if !s.joined {
		s.add(nil, st)
	}
	if s.spread {
		s.addText(stSpreadSettings)
	}
}

// end queues the end of a transaction. One of the caller's goes on without a tenant.
func (s *session) end(st *statement) {
	if s.joined {
		s.add(nil, stLeaveTenant)
		return
	}
	s.add(nil, st)
}

// enter queues that the transaction is of a tenant.
func (s *session) enter(tenant int64) {
	s.tenant = tenant
	number := strconv.FormatInt(tenant, 10)
	switch {
	case s.spread:
		s.addText(stSetTenant, tenant)
	case s.joined:
		s.add(nil, stSetTenantHere, number) // how the caller's own statements are planned is the caller's affair
	default:
		s.add(nil, stSetTenantAndPlans, number)
	}
}

// glance queues that what follows is of a tenant, for a single question. All that goes out in one round trip is one
// transaction of the server, so this one needs no beginning and no end.
func (s *session) glance(tenant int64) {
	if s.spread || s.joined {
		s.begin(stBeginRead)
	}
	s.enter(tenant)
	s.hold()
}

// leave queues the end of a glance.
func (s *session) leave() {
	if s.spread || s.joined {
		s.end(stCommit)
	}
}

// hold queues the tenant's lock in a transaction of the caller's. There each statement sees what was committed before it, so
// that only with the lock an answer of several statements is of one moment, and what a caller decides on stays true.
func (s *session) hold() {
	if s.joined {
		s.add(nil, stLockTenant, s.tenant)
	}
}

// stepError is the failure of a queued statement.
type stepError struct {
	owner int
	err   error
}

func (e *stepError) Error() string { return e.err.Error() }

func (e *stepError) Unwrap() error { return e.err }

// run sends what is queued and reads all answers: one round trip. After an error the transaction is over, and what was
// queued behind it did not happen.
func (s *session) run(ctx context.Context) error {
	steps := s.steps
	s.steps = s.steps[:0:0]
	if s.fault != nil {
		return s.fault
	}
	if len(steps) == 0 {
		return nil
	}
	s.trips++
	if ctx.Err() != nil {
		return ctx.Err()
	}
	t := trip{known: preparedOn(s.conn), unprepared: s.unprepared}
	pipe := s.conn.StartPipeline(ctx)
	t.send(pipe, steps)
	var err error
	if serr := pipe.Sync(); serr != nil {
		err = &broken{serr}
	} else {
		err = t.receive(pipe)
	}
	if cerr := pipe.Close(); err == nil && cerr != nil {
		err = &broken{cerr}
	}
	if isForgotten(err) {
		// What is known of the connection is wrong, and a pool drops one that is closed.
		err = errors.Join(err, s.conn.Close(ctx))
	}
	if s.spread {
		unsharded(err)
	}
	return err
}

// trip is one round trip.
type trip struct {
	known      map[string]*pgconn.StatementDescription
	unprepared bool
	expected   []step // parallel to the answers
}

// preparedOn are the statements that a connection has prepared.
func preparedOn(conn *pgconn.PgConn) map[string]*pgconn.StatementDescription {
	const key = "sgam"
	known, ok := conn.CustomData()[key].(map[string]*pgconn.StatementDescription)
	if !ok {
		known = map[string]*pgconn.StatementDescription{}
		conn.CustomData()[key] = known
	}
	return known
}

// inBinary is the format of all that is sent and received.
var inBinary = []int16{1}

func (t *trip) send(pipe *pgconn.Pipeline, steps []step) {
	sent := map[string]bool{}
	for _, s := range steps {
		switch {
		case s.closes:
			pipe.SendDeallocate(prepared(s.st))
		case t.unprepared || s.ofText:
			pipe.SendQueryParams(s.st.text, s.args, nil, inBinary, inBinary)
		default:
			name := prepared(s.st)
			described := t.known[name]
			if described == nil && !sent[name] {
				pipe.SendPrepare(name, s.st.text, nil)
				t.expected = append(t.expected, s)
				sent[name] = true
			}
			if described != nil && len(described.Fields) > 0 {
				pipe.SendQueryStatement(described, s.args, inBinary, inBinary)
			} else {
				pipe.SendQueryPrepared(name, s.args, inBinary, inBinary)
			}
		}
		t.expected = append(t.expected, s)
	}
}

// receive reads all answers up to the end of the trip, and returns the first failure. After one the server skips the rest.
func (t *trip) receive(pipe *pgconn.Pipeline) error {
	var first error
	for at := 0; ; at++ {
		s := step{st: &statement{name: "end of the trip"}}
		if at < len(t.expected) {
			s = t.expected[at]
		}
		results, err := pipe.GetResults()
		switch results := results.(type) {
		case *pgconn.PipelineSync:
			return first
		case *pgconn.StatementDescription:
			results.Name = prepared(s.st)
			t.known[results.Name] = results
		case *pgconn.CloseComplete:
			delete(t.known, prepared(s.st))
		case *pgconn.ResultReader:
			err = s.read(results)
		default:
			err = failed(s.st.name, err)
		}
		if err == nil {
			continue
		}
		if err = (&stepError{s.owner, err}); first == nil {
			first = err
		}
		if isBroken(err) {
			return first
		}
	}
}

// prepared is the name of a statement on the server.
func prepared(st *statement) string { return "sgam_" + st.name }

// read hands the rows of one answer over. It reads all of them, also when the callee fails.
func (s *step) read(results *pgconn.ResultReader) error {
	var stopped error
	for results.NextRow() {
		if s.each != nil && stopped == nil {
			stopped = s.each(results.Values())
		}
	}
	if _, err := results.Close(); err != nil {
		return failed(s.st.name, err)
	}
	return stopped
}
