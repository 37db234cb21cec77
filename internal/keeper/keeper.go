package pgtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// kept is a server that runs under a keeper.
type kept struct {
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

// keepRunning starts a server that writes its log into a folder, and a keeper beside it, which will stop it with a signal.
func keepRunning(folder string, as *syscall.SysProcAttr, signal string, server ...string) (*kept, error) {
	args := append([]string{"-c", keep, "sh", folder, signal}, server...)
	// The keeper ends with its input, not with a context.
	k := &kept{folder: folder, keeper: exec.Command("/bin/sh", args...)} //nolint:gosec,noctx // fixed programs
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

// answers returns when a question to the server is answered.
func (k *kept) answers(ctx context.Context, ask func(context.Context) error) error {
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

// end closes the keeper's input and waits until it is done. One that was never started has ended.
func (k *kept) end() error {
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

// folderFor is a new temporary folder that belongs to whoever the server runs as.
func folderFor(as *syscall.SysProcAttr, prefix string) (string, error) {
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
