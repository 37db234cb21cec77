package main

import (
	"cmp"
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/sgam-ledger/sgam/internal/bench"
)

// printSizes writes what a fact takes up on disk, and what the module adds to a program.
func printSizes(ctx context.Context, out io.Writer, files *bench.Files) error {
	imported, err := files.Imported(ctx)
	if err != nil {
		return err
	}
	single, err := files.Single(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintln(out)
	printDisk(out, "imported in large calls, five facts an episode", imported)
	printDisk(out, "a call and an episode for each fact", single)
	return printPrograms(ctx, out)
}

func printDisk(out io.Writer, how string, d bench.Disk) {
	each := func(bytes int64) int64 { return bytes / d.Facts }
	fmt.Fprintf(out, "disk, %s: %d facts, %d segments, %d bytes a fact", how, d.Facts, d.Segments, each(d.Bytes))
	names := slices.SortedFunc(maps.Keys(d.Tables), func(a, b string) int { return cmp.Compare(d.Tables[b], d.Tables[a]) })
	for i, name := range names {
		if each(d.Tables[name]) == 0 {
			break
		}
		fmt.Fprintf(out, "%s %s %d", map[bool]string{true: ":", false: ","}[i == 0], name, each(d.Tables[name]))
	}
	fmt.Fprintf(out, ", other pages %d; segments with their index: %d bytes a segment\n", each(d.Other), d.Tables["segments"]/max(1, d.Segments))
}

// printPrograms builds what there is to build and says how large it is and what it brings along.
func printPrograms(ctx context.Context, out io.Writer) (err error) {
	const module, command = "github.com/sgam-ledger/sgam", "github.com/sgam-ledger/sgam/cmd/sgam"
	dir, err := os.MkdirTemp("", "sgam-build-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	binary := filepath.Join(dir, "sgam")
	for _, flags := range []string{"", "-s -w"} {
		if _, err := output(ctx, "go", "build", "-trimpath", "-ldflags", flags, "-o", binary, command); err != nil {
			return err
		}
		size, err := os.Stat(binary)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "binary of cmd/sgam%s: %.1f MB\n", map[bool]string{true: ", stripped"}[flags != ""], float64(size.Size())/1e6)
	}
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "modules in cmd/sgam: %d\n", len(info.Deps))
	for _, packages := range [][]string{{module}, {module, module + "/schema"}, {module, module + "/schema", module + "/sqlite"}} {
		modules, err := modulesOf(ctx, packages)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "modules in a program with %s: %d (%s)\n", strings.Join(packages, ", "), len(modules), strings.Join(modules, ", "))
	}
	return nil
}

// modulesOf lists the modules of others that packages are compiled from.
func modulesOf(ctx context.Context, packages []string) ([]string, error) {
	listed, err := output(ctx, "go", append([]string{"list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}{{end}}{{end}}"}, packages...)...)
	if err != nil {
		return nil, err
	}
	modules := strings.Fields(listed)
	slices.Sort(modules)
	return slices.Compact(modules), nil
}

func output(ctx context.Context, name string, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, name, args...).Output()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		return "", fmt.Errorf("%s %s: %w\n%s", name, args[0], err, failed.Stderr)
	}
	return string(out), err
}

// printMachine writes where all of it was measured.
func printMachine(ctx context.Context, out io.Writer, dir string) error {
	sync, err := syncs(dir)
	if err != nil {
		return err
	}
	version, err := bench.SQLite(ctx)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s, %d cores, %s/%s, %s, SQLite %s; writing and syncing a page takes %d µs\n\n",
		processor(), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version(), version, sync.Microseconds())
	return err
}

// processor is the name of the CPU where the system has it in a file, and its architecture where not.
func processor() string {
	content, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH
	}
	for line := range strings.Lines(string(content)) {
		if name, value, _ := strings.Cut(line, ":"); strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}

// syncs is the median time that it takes to write a page to a file and have the disk say that it is there.
func syncs(dir string) (took time.Duration, err error) {
	f, err := os.CreateTemp(dir, "sync-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(f.Name())) }()
	var all []time.Duration
	page := make([]byte, 4096)
	for i := range 200 {
		start := time.Now()
		if _, err := f.WriteAt(page, int64(i*len(page))); err != nil {
			return 0, err
		}
		if err := f.Sync(); err != nil {
			return 0, err
		}
		all = append(all, time.Since(start))
	}
	return median(all), nil
}
