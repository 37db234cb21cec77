//go:build cgo && unix

package crashtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	roleVariable = "SGAM_CRASHTEST_ROLE"
	argsVariable = "SGAM_CRASHTEST_ARGS"

	// lifetime bounds every child, whatever becomes of its parent.
	lifetime = 2 * time.Minute
)

// The exit codes of a child, beside 0.
const (
	exitWrong   = 1 // the role found something wrong, and says what on standard error
	exitLate    = 3 // the lifetime is over
	exitGivenUp = 4 // the role was told to give up after a failure
)

// roles are what a child process can be.
var roles = map[string]func(ctx context.Context, args []byte, up *parent) error{
	"player":      as(play),
	"writer":      as(write),
	"reader":      as(watch),
	"client":      as(serve),
	"clocked":     as(writeAtTimes),
	"redeliverer": as(redeliver),
	"founder":     as(found),
	"limited":     as(writeUnderLimit),
	"migrator":    as(migrateAlone),
}

// as is a role with arguments of its own type.
func as[T any](role func(context.Context, T, *parent) error) func(context.Context, []byte, *parent) error {
	return func(ctx context.Context, raw []byte, up *parent) error {
		var args T
		if err := json.Unmarshal(raw, &args); err != nil {
			return fmt.Errorf("arguments: %w", err)
		}
		return role(ctx, args, up)
	}
}

func TestMain(m *testing.M) {
	name := os.Getenv(roleVariable)
	if name == "" {
		os.Exit(m.Run())
	}
	// A child that hangs inside the driver hears of no context.
	time.AfterFunc(lifetime, func() { os.Exit(exitLate) })
	ctx, cancel := context.WithTimeout(context.Background(), lifetime)
	defer cancel()
	role, known := roles[name]
	if !known {
		fmt.Fprintln(os.Stderr, "there is no role", name)
		os.Exit(exitWrong)
	}
	if err := role(ctx, []byte(os.Getenv(argsVariable)), newParent()); err != nil {
		fmt.Fprintln(os.Stderr, name+":", err)
		os.Exit(exitWrong)
	}
	os.Exit(0)
}

// all reports whether the long runs are wanted.
func all() bool { return os.Getenv("SGAM_ALL") != "" }

// few is the first number in the quick run and the second in the long one.
func few(quick, long int) int {
	if all() {
		return long
	}
	return quick
}

// process is a child that plays a role. It speaks in lines of JSON on standard output, and hears them on standard input.
type process struct {
	t      *testing.T
	name   string
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *json.Decoder
	errors bytes.Buffer
}

// start runs a role in a child, under a program such as strace when one is given. The child is gone when the test ends.
func start(t *testing.T, role string, args any, under ...string) *process {
	t.Helper()
	raw, err := json.Marshal(args)
	require.NoError(t, err)
	self, err := os.Executable()
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), lifetime)
	line := append(under, self)
	p := &process{t: t, name: role, cmd: exec.CommandContext(ctx, line[0], line[1:]...)}
	// The race detector lets a program linger for a second at its end.
	race := "GORACE=atexit_sleep_ms=0 " + os.Getenv("GORACE")
	p.cmd.Env = append(os.Environ(), roleVariable+"="+role, argsVariable+"="+string(raw), race)
	// A group of its own, so that a tracer and what it traces end together.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p.cmd.Cancel = func() error { return syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) }
	p.cmd.WaitDelay = 10 * time.Second
	p.cmd.Stderr = &p.errors
	p.in, err = p.cmd.StdinPipe()
	require.NoError(t, err)
	out, err := p.cmd.StdoutPipe()
	require.NoError(t, err)
	p.out = json.NewDecoder(out)
	require.NoError(t, p.cmd.Start())
	t.Cleanup(func() {
		cancel()
		if p.cmd.ProcessState == nil {
			_ = p.cmd.Wait() // the test failed before it came to this
		}
	})
	return p
}

// tell sends the child one line.
func (p *process) tell(line any) {
	p.t.Helper()
	require.NoError(p.t, p.try(line), "%s: %s", p.name, &p.errors)
}

// try is tell for other goroutines than the test's.
func (p *process) try(line any) error { return json.NewEncoder(p.in).Encode(line) }

// next waits for the child's next line and reports whether there was one before the end.
func (p *process) next(into any) (bool, error) {
	err := p.out.Decode(into)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return false, nil // a line that death cut short was never said
	}
	return err == nil, err
}

// hear is next, where nothing but a line or the end can come.
func (p *process) hear(into any) bool {
	p.t.Helper()
	there, err := p.next(into)
	require.NoError(p.t, err, "%s: %s", p.name, &p.errors)
	return there
}

// expect waits for the child's next line, which must come.
func (p *process) expect(into any) {
	p.t.Helper()
	if !p.hear(into) {
		require.Failf(p.t, "child ended early", "%s: %v: %s", p.name, p.cmd.Wait(), &p.errors)
	}
}

// ready waits until the child says that it is.
func (p *process) ready() {
	p.t.Helper()
	var word string
	p.expect(&word)
	require.Equal(p.t, readyWord, word)
}

// kill ends the child at once.
func (p *process) kill() {
	p.t.Helper()
	require.NoError(p.t, p.cmd.Process.Kill())
}

// end lets the child finish, and it must have found nothing wrong.
func (p *process) end() {
	p.t.Helper()
	require.NoError(p.t, p.in.Close())
	require.NoError(p.t, p.cmd.Wait(), "%s: %s", p.name, &p.errors)
}

// code waits for the end of the child, and is its exit code, or the negative number of the signal that killed it.
func (p *process) code() int {
	p.t.Helper()
	err := p.cmd.Wait()
	if err == nil {
		return 0
	}
	exit, ok := errors.AsType[*exec.ExitError](err)
	require.True(p.t, ok, "%s: %v", p.name, err)
	status, ok := exit.Sys().(syscall.WaitStatus)
	require.True(p.t, ok)
	if status.Signaled() {
		return -int(status.Signal())
	}
	return status.ExitStatus()
}

const readyWord = "ready"

// parent is how a child speaks with the test that started it.
type parent struct {
	in  *json.Decoder
	out *json.Encoder
}

func newParent() *parent {
	return &parent{in: json.NewDecoder(os.Stdin), out: json.NewEncoder(os.Stdout)}
}

// say writes one line, in one system call.
func (p *parent) say(line any) error { return p.out.Encode(line) }

// hear reads one line, and reports whether there was one before the end.
func (p *parent) hear(into any) (bool, error) {
	err := p.in.Decode(into)
	if errors.Is(err, io.EOF) {
		return false, nil
	}
	return err == nil, err
}

// start says that the child is ready, and waits until all are.
func (p *parent) start() error {
	if err := p.say(readyWord); err != nil {
		return err
	}
	var word string
	_, err := p.hear(&word)
	return err
}
