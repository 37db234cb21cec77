package postgres

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// copyLarge lets large calls be copied, when the role may make temporary tables. Those of a coordinator of Citus would have
// to be sent to its nodes row by row, so there nothing is copied.
func (s *store) copyLarge(temporary bool) {
	const large = 250 // below 200 the temporary tables cost more than they save: docs/adr/0014
	if temporary && !s.spread {
		s.large = large
	}
}

// staging says how the rows of a table are brought by COPY, for those that grow with the facts of a call.
//
// A table with row-level security takes no COPY from a role that the security holds for. So the rows are copied into a
// temporary table, and inserted from there by one statement.
var staging = stagings(stAddSubject, stAddSlot, stAddEpisode, stAddFact, stAddEncoding, stAddValueNumber, stOpenSegment, stAddConfirmation,
	stAddSupersession, stCountPoint, stAddOutcome)

// stage is how the rows of one table are copied.
type stage struct {
	columns            int
	create, copy, drop *statement
	insert             *statement
}

func stagings(of ...*statement) map[*statement]*stage {
	all := map[*statement]*stage{}
	for _, st := range of {
		all[st] = newStage(st)
	}
	return all
}

var (
	insertion = regexp.MustCompile(`(?s)INSERT INTO sgam\.(\w+)( AS \w+)? \(([^)]*)\)\s+VALUES \(([^)]*)\)(.*)$`)
	between   = regexp.MustCompile(`\s*,\s*`)
)

// newStage reads in a statement that inserts one row how many rows are inserted. The temporary table has the columns that are
// arguments there, in that order.
func newStage(st *statement) *stage {
	parts := insertion.FindStringSubmatch(st.text)
	if parts == nil {
		panic("postgres: the rows of " + st.name + " cannot be copied")
	}
	table, alias, columns, values, rest := parts[1], parts[2], between.Split(parts[3], -1), between.Split(parts[4], -1), parts[5]
	staged := make([]string, strings.Count(parts[4], "$"))
	for i, value := range values {
		if n, argument := strings.CutPrefix(value, "$"); argument {
			number, err := strconv.Atoi(n)
			if err != nil || number > len(staged) {
				panic("postgres: the rows of " + st.name + " cannot be copied")
			}
			staged[number-1] = columns[i]
			values[i] = "staged." + columns[i]
		}
	}
	temporary, list := "sgam_"+table, strings.Join(staged, ", ")
	text := func(what, format string, args ...any) *statement {
		return &statement{name: what + "_" + st.name, text: fmt.Sprintf(format, args...)}
	}
	return &stage{
		columns: len(staged),
		create:  text("stage", texts["stage_rows"], temporary, list, table),
		copy:    text("copy", texts["copy_rows"], temporary),
		insert: text("insert", texts["insert_staged_rows"], table, alias, strings.Join(columns, ", "), strings.Join(values, ", "), temporary,
			rest),
		drop: text("drop", texts["drop_stage"], temporary),
	}
}

// bulk are the rows of a large call.
type bulk struct {
	order []*stage
	rows  map[*stage]*bytes.Buffer
}

func newBulk() *bulk { return &bulk{rows: map[*stage]*bytes.Buffer{}} }

// put keeps one row, and queues the insertion of all rows of its table with the first of them.
func (b *bulk) put(s *session, owner int, st *statement, args []any) {
	to := staging[st]
	rows := b.rows[to]
	if rows == nil {
		rows = &bytes.Buffer{}
		// The head of PostgreSQL's binary format: a signature, no flags, no extension.
		rows.WriteString("PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00")
		b.order, b.rows[to] = append(b.order, to), rows
		s.addLiteral(owner, to.insert)
		s.addLiteral(owner, to.drop)
	}
	if len(args) != to.columns {
		s.fault = errors.Join(s.fault, fmt.Errorf("%s: %d arguments for %d columns", st.name, len(args), to.columns))
		return
	}
	line := binary.BigEndian.AppendUint16(rows.AvailableBuffer(), uint16(len(args))) //nolint:gosec // a table has few columns
	for _, arg := range args {
		value, err := encode(arg)
		if err != nil {
			s.fault = errors.Join(s.fault, fmt.Errorf("%s: %w", st.name, err))
			return
		}
		size := uint32(len(value)) //nolint:gosec // a value that a call can have
		if value == nil {
			size = 1<<32 - 1 // NULL
		}
		line = append(binary.BigEndian.AppendUint32(line, size), value...)
	}
	rows.Write(line)
}

// fill copies the rows into temporary tables, before anything that is queued.
func (b *bulk) fill(ctx context.Context, s *session) error {
	if b == nil || s.fault != nil {
		return s.fault
	}
	waiting := s.steps
	s.steps = nil
	for _, to := range b.order {
		s.addLiteral(0, to.create)
	}
	if err := s.run(ctx); err != nil {
		return err
	}
	for _, to := range b.order {
		rows := b.rows[to]
		rows.Write([]byte{0xff, 0xff}) // the end
		s.trips++
		if _, err := s.conn.CopyFrom(ctx, rows, to.copy.text); err != nil {
			return failed(to.copy.name, err)
		}
	}
	s.steps = waiting
	return nil
}
