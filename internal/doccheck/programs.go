package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// compile builds and vets each program in a module of its own that depends on the one in root, and returns a fault for each
// that fails. The compiler is told where the code came from, so that its complaints name the document and the line.
func compile(ctx context.Context, root string, programs []block) (faults []string, err error) {
	root, err = filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "doccheck-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()

	if err := writeModule(ctx, dir, root); err != nil {
		return nil, err
	}
	for i, b := range programs {
		if err := writeProgram(filepath.Join(dir, packageName(i)), root, b); err != nil {
			return nil, err
		}
	}
	if said, err := goCommand(ctx, dir, "mod", "tidy"); err != nil {
		return []string{fmt.Sprintf("the programs' imports cannot be resolved: %v\n%s", err, said)}, nil
	}
	for i, b := range programs {
		if said, err := goCommand(ctx, dir, "vet", "./"+packageName(i)); err != nil {
			faults = append(faults, fmt.Sprintf("%s: does not compile: %v\n%s", b.at(), err, said))
		}
	}
	return faults, nil
}

func packageName(i int) string { return fmt.Sprintf("block%d", i) }

// writeModule writes a go.mod that takes the module in root from there, at the versions that root itself uses.
func writeModule(ctx context.Context, dir, root string) error {
	described, err := exec.CommandContext(ctx, "go", "-C", root, "mod", "edit", "-json").Output()
	if err != nil {
		return fmt.Errorf("read go.mod: %w", err)
	}
	var mod struct {
		Module struct{ Path string }
		Go     string
	}
	if err := json.Unmarshal(described, &mod); err != nil {
		return fmt.Errorf("read go.mod: %w", err)
	}
	text := fmt.Sprintf("module doccheck.test\n\ngo %s\n\nrequire %s v0.0.0\n\nreplace %[2]s => %q\n", mod.Go, mod.Module.Path, root)
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(text), 0o600); err != nil {
		return err
	}
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "go.sum"), sums, 0o600)
}

func writeProgram(dir, root string, b block) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	name := "block.go"
	if strings.Contains(b.code, `"testing"`) {
		name = "block_test.go"
	}
	text := fmt.Sprintf("//line %s:%d\n%s", filepath.Join(root, filepath.FromSlash(b.file)), b.line, b.code)
	return os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)
}

// goCommand runs the go command in dir, free of what the environment says about workspaces and module files.
func goCommand(ctx context.Context, dir string, args ...string) (said string, err error) {
	command := exec.CommandContext(ctx, "go", args...)
	command.Dir = dir
	command.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
	var output bytes.Buffer
	command.Stdout, command.Stderr = &output, &output
	err = command.Run()
	return output.String(), err
}
