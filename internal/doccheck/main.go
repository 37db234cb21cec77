// Doccheck keeps the Go code and the links in the documents true. It reads README.md and every Markdown file under docs/ of the module in the
// current folder. A fenced block marked "go" that begins with a package clause has to compile, in a module of its own that
// uses this one as a stranger would; any other has to appear, white space aside, in one of the module's tests. A relative link
// has to lead to a file of the module.
//
// It exits with 1 when a block does neither, or a link leads nowhere.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

func main() {
	os.Exit(run(context.Background(), ".", os.Stdout))
}

// patience is for all that the go command is asked, downloads included.
const patience = 10 * time.Minute

func run(ctx context.Context, root string, out io.Writer) int {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	faults, total, err := check(ctx, root)
	if err != nil {
		fmt.Fprintln(out, "doccheck:", err)
		return 1
	}
	for _, fault := range faults {
		fmt.Fprintln(out, fault)
	}
	fmt.Fprintf(out, "%d blocks, %d faults\n", total, len(faults))
	if len(faults) > 0 {
		return 1
	}
	return 0
}

// check returns what is wrong with the blocks and links of the documents under root, and how many blocks there are.
func check(ctx context.Context, root string) (faults []string, total int, err error) {
	module := os.DirFS(root)
	blocks, faults, err := readDocuments(module)
	if err != nil {
		return nil, 0, err
	}
	var programs []block
	var tests testText
	for _, b := range blocks {
		switch {
		case strings.TrimSpace(b.code) == "":
			faults = append(faults, b.at()+": empty block")
		case b.isProgram():
			programs = append(programs, b)
		default:
			if tests == nil {
				if tests, err = readTests(module); err != nil {
					return nil, 0, err
				}
			}
			if !tests.contain(b.code) {
				faults = append(faults, b.at()+": this code is in no test; make it part of an Example, word for word")
			}
		}
	}
	if len(programs) > 0 {
		broken, err := compile(ctx, root, programs)
		if err != nil {
			return nil, 0, err
		}
		faults = append(faults, broken...)
	}
	return faults, len(blocks), nil
}
