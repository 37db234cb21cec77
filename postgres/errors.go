package postgres

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sgam-ledger/sgam"
)

var (
	// ErrNoWall says that row-level security does not hold for the role of the connection: it owns the tables, is a
	// superuser or bypasses row-level security, or a table has none. [Options.NoWall] allows it.
	ErrNoWall = errors.New("postgres: row-level security does not hold for this role: connect as the application's role")
	// ErrNotDurable says that the server confirms commits before they are durable.
	ErrNotDurable = errors.New("postgres: synchronous_commit is off: a confirmed write could be lost")
	// ErrPooled says that the connection goes through a pooler, or something else, that may run the next transaction on
	// another connection to the server and does not take prepared statements along. It is a warning: see [Options.Warn].
	ErrPooled = errors.New("postgres: the connection goes through a pooler that may not keep prepared statements: statements are sent as text")
)

// failure is what the server said of a statement. Its own words are left out, since they can hold values.
type failure struct{ statement, code, constraint string }

func (f *failure) Error() string {
	text := fmt.Sprintf("sgam: postgres: %s failed with SQLSTATE %s", f.statement, f.code)
	if word := codeWords[f.code]; word != "" {
		text += " (" + word + ")"
	}
	if f.constraint != "" {
		text += ", constraint " + f.constraint
	}
	return text
}

// codeWords are the codes that a person is likely to meet.
var codeWords = map[string]string{
	"08006": "connection failure", "22012": "a row that must be there is not", "23502": "not null", "23503": "foreign key", "23505": "unique",
	"23514": "check", "23P01": "exclusion", "25006": "read-only transaction", "25P02": "the transaction is aborted",
	"26000": "no such prepared statement", "3F000": "no such schema", "40001": "serialization failure", "40P01": "deadlock",
	"42501": "insufficient privilege", "42P01": "no such table", "42P05": "prepared statement exists", "53100": "disk full",
	"53300": "too many connections",
	"57014": "canceled", "57P01": "shutdown", "57P02": "crash shutdown", "57P03": "starting up", "55P03": "lock not available",
}

// broken says that the connection was lost, or never made.
type broken struct{ cause error }

func (b *broken) Error() string { return "sgam: postgres: connection lost: " + b.cause.Error() }

func (b *broken) Unwrap() error { return b.cause }

// failed is an error of a statement as the ledger tells it.
func failed(statement string, err error) error {
	if p, ok := errors.AsType[*pgconn.PgError](err); ok {
		return &failure{statement: statement, code: p.Code, constraint: p.ConstraintName}
	}
	return &broken{err}
}

// ofShard is the end that Citus gives the name of a constraint on its nodes. No name of ours ends so.
var ofShard = regexp.MustCompile(`_[0-9]{6,}$`)

// unsharded names the constraint of a failure as it is called in the ledger, not as one node of Citus calls it.
func unsharded(err error) {
	if f, ok := errors.AsType[*failure](err); ok {
		f.constraint = ofShard.ReplaceAllString(f.constraint, "")
	}
}

// code is the server's code of an error, empty when it has none.
func code(err error) string {
	if f, ok := errors.AsType[*failure](err); ok {
		return f.code
	}
	return ""
}

func isBroken(err error) bool {
	_, ok := errors.AsType[*broken](err)
	return ok
}

// isForgotten reports that the server has not prepared what the connection should have: it no longer knows the statement, or
// has it for tables that changed, or has had it from somebody else.
func isForgotten(err error) bool {
	c := code(err)
	return c == "26000" || c == "0A000" || c == "42P05"
}

// isPassing reports whether the same may go well a moment later: nothing was stored.
func isPassing(err error) bool {
	c := code(err)
	return isBroken(err) || isForgotten(err) || strings.HasPrefix(c, "40") || strings.HasPrefix(c, "08") || strings.HasPrefix(c, "57P") ||
		c == "53300" || c == "55P03"
}

// ended is the error of work that a context ended, or the error itself.
func ended(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// busy says that a call could not have the tenant's lock in time.
func busy(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("%w: %w", sgam.ErrBusy, ctx.Err())
	}
	return ctx.Err()
}

// damaged says that a row is missing to which another one refers.
func damaged(format string, args ...any) error {
	return fmt.Errorf("sgam: postgres: the ledger is damaged: there is no "+format, args...)
}
