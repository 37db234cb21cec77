package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/sqlite"
	"github.com/sgam-ledger/sgam/transfer"
)

// The exit codes, the same for every command.
const (
	exitOK          = 0
	exitNo          = 1 // the answer is no: no value, a delta rejected, a question answered wrong
	exitUsage       = 2 // wrong flags, files, times
	exitRefused     = 3 // refused, or needs something else first
	exitTampered    = 4 // verify found differences
	exitUnreadable  = 7 // the ledger, or what it needs, cannot be read or written
	exitInterrupted = 130
)

// verdict ends a command with a code. Its line may be empty, when the output has said it all.
type verdict struct {
	code  int
	line  string
	cause error
}

func (v *verdict) Error() string { return v.line }
func (v *verdict) Unwrap() error { return v.cause }

// no is the verdict of an answer that is no and has been printed.
func no() error { return &verdict{code: exitNo} }

// usage is the verdict of wrong flags, files and times.
func usage(format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	return &verdict{code: exitUsage, line: err.Error(), cause: errors.Unwrap(err)}
}

// refused is the verdict of what is not done because of what is there.
func refused(cause error, format string, args ...any) error {
	return &verdict{code: exitRefused, line: fmt.Sprintf(format, args...), cause: cause}
}

// judge turns the error of a command into an exit code and the line that goes to standard error.
func (p *program) judge(ctx context.Context, err error) (code int, line string) {
	if err == nil {
		return exitOK, ""
	}
	if v, ok := errors.AsType[*verdict](err); ok {
		return v.code, oneLine(v.line)
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return exitInterrupted, "interrupted"
	}
	return codeOf(err), oneLine(err.Error())
}

// codes gives the sentinels their exit codes. What is not listed is a failure of the ledger's storage.
var codes = []struct {
	code int
	errs []error
}{
	{exitNo, []error{sgam.ErrNoValue, sgam.ErrNotFound, sgam.ErrRejected}},
	{exitUsage, []error{
		sgam.ErrManyValued, sgam.ErrOneScope, sgam.ErrForeignTenant, sgam.ErrEmptyInterval, sgam.ErrForeignFile, fs.ErrNotExist,
		fs.ErrPermission, sqlite.ErrReadOnlyFolder,
	}},
	{exitRefused, []error{
		sgam.ErrFormatOld, sgam.ErrReadOnly, sgam.ErrClockBehind, sgam.ErrClockJump, sgam.ErrBusy, sgam.ErrKnownTime,
		sgam.ErrOutcomeUnknown, sgam.ErrSchemaDrift, sgam.ErrSchemaGap, sgam.ErrUnsupported, fs.ErrExist, sqlite.ErrNoCgo,
		sqlite.ErrOldSQLite, sgam.ErrOtherHistory, sgam.ErrCallGap, sgam.ErrLensInUse, transfer.ErrOtherKey,
	}},
}

func codeOf(err error) int {
	for _, c := range codes {
		for _, target := range c.errs {
			if errors.Is(err, target) {
				return c.code
			}
		}
	}
	if _, ok := errors.AsType[*sgam.FieldError](err); ok {
		return exitUsage
	}
	return exitUnreadable
}

// longestLine is how many characters of a message are shown: the path of a deeply nested fault is long.
const longestLine = 500

// oneLine makes one line of a message, without the name that the caller puts in front.
func oneLine(message string) string {
	message = strings.ReplaceAll(strings.TrimPrefix(strings.TrimSpace(message), "sgam: "), ": sgam: ", ": ")
	lines := strings.FieldsFunc(message, func(r rune) bool { return r == '\n' || r == '\r' })
	return cut(printable(strings.Join(lines, "; ")), longestLine)
}

// fieldError finds the fault of an input in an error.
func fieldError(err error) (*sgam.FieldError, bool) { return errors.AsType[*sgam.FieldError](err) }
