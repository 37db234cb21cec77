// Package keeper runs a server of a test process's own: its files in a temporary folder, under a user that it accepts, and all of
// it gone with the process that started it, however that ends.
package keeper

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// Kept is a server that runs under a keeper.
type Kept struct {
	folder string
	keeper *exec.Cmd
	alive  io.Closer // its end tells the keeper that this process is gone
}

// keep runs the server, and when this process is gone, which closes the keeper's input, stops it and clears up. A server
// that ends by itself is not started again.
const keep = `folder=$1 signal=$2; shift 2
"$@" >>"$folder/log" 2>&1 & server=$!
cat >/dev/null
kill -$signal $server 2>/dev/null; wait $server
[ -e "$folder/stay" ] || rm -rf "$folder"`

// Run starts a server that writes its log into a folder, and a keeper beside it, which will stop it with a signal when this process
// is gone, and remove the folder unless a file "stay" is in it.
func Run(folder string, as *syscall.SysProcAttr, signal string, server ...string) (*Kept, error) {
	args := append([]string{"-c", keep, "sh", folder, signal}, server...)
	// The keeper ends with its input, not with a context.
	k := &Kept{folder: folder, keeper: exec.Command("/bin/sh", args...)} //nolint:gosec,noctx // fixed programs
	k.keeper.SysProcAttr, k.keeper.Dir = as, folder
	input, err := k.keeper.StdinPipe()
	if err != nil {
		return nil, err
	}
	k.alive = input
	if err := k.keeper.Start(); err != nil {
		return nil, errors.Join(err, input.Close())
	}
	return k, nil
}

// Answers returns when a question to the server is answered. It fails after a minute, with the server's log.
func (k *Kept) Answers(ctx context.Context, ask func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		err := ask(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			log, lerr := os.ReadFile(filepath.Join(k.folder, "log"))
			return errors.Join(fmt.Errorf("the server does not answer: %w: %s", err, log), lerr)
		case <-again.C:
		}
	}
}

// End stops the server and waits until the keeper is done. One that was never started has ended.
func (k *Kept) End() error {
	if k == nil || k.keeper == nil {
		return nil
	}
	err := k.alive.Close()
	if werr := k.keeper.Wait(); werr != nil {
		if _, ended := errors.AsType[*exec.ExitError](werr); !ended {
			err = errors.Join(err, werr)
		}
	}
	k.keeper = nil
	return err
}

// Account says as whom a server runs that refuses root: under root as the first of the users that there is, else as whoever runs
// the test. It is in a process group of its own, so that an interrupt at the terminal leaves it to its keeper.
func Account(users ...string) (*syscall.SysProcAttr, error) {
	as := &syscall.SysProcAttr{Setpgid: true}
	if os.Geteuid() != 0 {
		return as, nil
	}
	var missing error
	for _, name := range users {
		u, err := user.Lookup(name)
		if err != nil {
			missing = errors.Join(missing, err)
			continue
		}
		uid, uerr := strconv.ParseUint(u.Uid, 10, 32)
		gid, gerr := strconv.ParseUint(u.Gid, 10, 32)
		if err := errors.Join(uerr, gerr); err != nil {
			return nil, err
		}
		as.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		return as, nil
	}
	return nil, missing
}

// Folder is a new temporary folder that belongs to whoever the server runs as. Its path is short enough for a socket in it.
func Folder(as *syscall.SysProcAttr, prefix string) (string, error) {
	in := os.TempDir()
	if len(in) > 60 {
		in = "/tmp" // the path of a socket has little room
	}
	folder, err := os.MkdirTemp(in, prefix)
	if err != nil || as.Credential == nil {
		return folder, err
	}
	return folder, os.Chown(folder, int(as.Credential.Uid), int(as.Credential.Gid))
}
