// Sgam is the command line of the ledger: it writes deltas, reads both time axes, checks a ledger and replays histories
// with known answers. docs/guide/command-line.md tells how.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second interruption ends a program that hangs
	code := newProgram(os.Args[0], os.Stdin, os.Stdout, os.Stderr).run(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}
