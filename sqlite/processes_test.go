//go:build cgo

package sqlite

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/sgam-ledger/sgam"
)

// childPath makes the test binary a program that writes to the ledger at that path, in the name that childName says, as
// many calls as childCalls says.
const childPath, childName, childCalls = "SGAM_TEST_CHILD_PATH", "SGAM_TEST_CHILD_NAME", "SGAM_TEST_CHILD_CALLS"

func TestMain(m *testing.M) {
	if path := os.Getenv(childPath); path != "" {
		if err := child(path, os.Getenv(childName), os.Getenv(childCalls)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m) // a ledger that is closed leaves no goroutine behind
}

// child writes statements about subjects that all children share, and prints the memory ids that were acknowledged.
func child(path, name, calls string) error {
	n, err := strconv.Atoi(calls)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	l, err := Open(ctx, path, &sgam.Options{Schemas: plain{}})
	if err != nil {
		return err
	}
	acme, err := l.Tenant("acme")
	if err != nil {
		return err
	}
	for i := range n {
		at := day(1).Add(time.Duration(i) * time.Hour)
		d := assert(fmt.Sprint("s", i%3), "deadline", name+fmt.Sprint(i), at).From(message(fmt.Sprint(name, "-", i), at))
		r, err := acme.As(name).Apply(ctx, d)
		if err != nil {
			return err
		}
		fmt.Println(r.Memory)
	}
	return l.Close()
}

func TestProcessesThatOpenTheSameNewPathShareOneLedger(t *testing.T) {
	ctx := context.Background()
	program, err := os.Executable()
	require.NoError(t, err)
	path := newPath(t)
	const n, calls = 6, 15
	var children [n]*exec.Cmd
	var said, failed [n]bytes.Buffer
	for i := range children {
		children[i] = exec.CommandContext(ctx, program)
		children[i].Env = append(os.Environ(), childPath+"="+path, childName+"="+fmt.Sprint("p", i), childCalls+"="+fmt.Sprint(calls))
		children[i].Stdout, children[i].Stderr = &said[i], &failed[i]
		require.NoError(t, children[i].Start())
	}
	for i := range children {
		require.NoError(t, children[i].Wait(), "%s", failed[i].String())
	}
	l := open(t, path, nil)
	acme := tenant(t, l, "acme")
	acknowledged := 0
	for i := range said {
		for lines := bufio.NewScanner(&said[i]); lines.Scan(); {
			id, err := sgam.ParseMemoryID(lines.Text())
			require.NoError(t, err)
			e, err := acme.Memory(ctx, id)
			require.NoError(t, err, "what was acknowledged is stored")
			require.Equal(t, fmt.Sprint("p", i), e.Fact.Principal)
			acknowledged++
		}
	}
	require.Equal(t, n*calls, acknowledged)
	last, outcomes := time.Time{}, 0
	for o, err := range acme.Outcomes(ctx) {
		require.NoError(t, err)
		require.True(t, o.Known.After(last))
		last = o.Known
		outcomes++
	}
	require.Equal(t, n*calls, outcomes)
}

func TestWhatWasAcknowledgedSurvivesTheDeathOfTheProcess(t *testing.T) {
	ctx := context.Background()
	program, err := os.Executable()
	require.NoError(t, err)
	path := newPath(t)
	var acknowledged []sgam.MemoryID
	for round := range 12 {
		victim := exec.CommandContext(ctx, program)
		victim.Env = append(os.Environ(), childPath+"="+path, childName+"="+fmt.Sprint("v", round), childCalls+"=1000000")
		said, err := victim.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, victim.Start())
		lines := bufio.NewScanner(said)
		for n := 0; n < round && lines.Scan(); n++ {
			id, err := sgam.ParseMemoryID(lines.Text())
			require.NoError(t, err)
			acknowledged = append(acknowledged, id)
		}
		// It goes on writing until it dies.
		require.NoError(t, victim.Process.Kill())
		for lines.Scan() {
			if id, err := sgam.ParseMemoryID(lines.Text()); err == nil {
				acknowledged = append(acknowledged, id)
			}
		}
		require.Error(t, victim.Wait())

		l, err := Open(ctx, path, &sgam.Options{Schemas: plain{}})
		require.NoError(t, err)
		for err := range l.Verify(ctx) {
			require.NoError(t, err)
		}
		acme := tenant(t, l, "acme")
		for _, id := range acknowledged {
			_, err := acme.Memory(ctx, id)
			require.NoError(t, err)
		}
		require.NoError(t, l.Close())
	}
	require.Greater(t, len(acknowledged), 50)
}

func TestAWriteOfAnotherProcessIsSeenAtOnce(t *testing.T) {
	ctx := context.Background()
	path := newPath(t)
	a, b := tenant(t, open(t, path, nil), "acme"), tenant(t, open(t, path, nil), "acme")
	for i := range 6 {
		writer, other := a, b
		if i%2 == 1 {
			writer, other = b, a
		}
		r, err := writer.Apply(ctx, assert("mira", "deadline", fmt.Sprint(i), day(1+i)).From(message(fmt.Sprint("e", i), day(1))))
		require.NoError(t, err)
		require.Equal(t, sgam.Applied, r.Outcome)
		f, err := other.ValidAt(day(20)).Get(ctx, "mira", "deadline")
		require.NoError(t, err)
		require.Equal(t, r.Memory, f.ID)
	}
}
