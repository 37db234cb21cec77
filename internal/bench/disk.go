package bench

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/sgam-ledger/sgam"
)

// Disk is what a file takes up.
type Disk struct {
	Facts, Segments int64
	Bytes           int64 // the whole file
	// Tables are the bytes of the pages of each table with those of its indexes.
	Tables map[string]int64
	// Other are the bytes of all other pages: those that long values flow over into, and free ones.
	Other int64
}

// Imported is the large file, which was written in large calls.
func (f *Files) Imported(ctx context.Context) (Disk, error) {
	large, err := f.large(ctx)
	if err != nil {
		return Disk{}, err
	}
	return large.disk(ctx)
}

// Single is what the small file grows by when it is told as many facts again, each in a call of its own with an episode
// of its own.
func (f *Files) Single(ctx context.Context) (d Disk, err error) {
	small, err := f.small(ctx)
	if err != nil {
		return Disk{}, err
	}
	before, err := small.disk(ctx)
	if err != nil {
		return Disk{}, err
	}
	grown, err := f.copy(small)
	if err != nil {
		return Disk{}, err
	}
	defer func() { err = errors.Join(err, grown.remove()) }()
	err = grown.fill(ctx, func(t *sgam.Tenant) error {
		a := &applier{tenant: t, next: small.changes(5)}
		if err := a.prepare(ctx, small.facts); err != nil {
			return err
		}
		return a.callers(ctx, small.facts)
	})
	if err != nil {
		return Disk{}, err
	}
	grown.facts += small.facts
	d, err = grown.disk(ctx)
	for name := range d.Tables {
		d.Tables[name] -= before.Tables[name]
	}
	d.Facts, d.Segments, d.Bytes, d.Other = d.Facts-before.Facts, d.Segments-before.Segments, d.Bytes-before.Bytes, d.Other-before.Other
	return d, err
}

// disk walks the trees of a file that nobody has open. The driver is built without SQLite's own account of pages.
func (f *file) disk(ctx context.Context) (d Disk, err error) {
	var s Sides
	defer func() { err = errors.Join(err, s.Close()) }()
	_, e, err := s.reading(ctx, f)
	if err != nil {
		return Disk{}, err
	}
	d, err = DiskOf(ctx, e, f.path)
	d.Facts = int64(f.facts)
	return d, err
}

// DiskOf walks the trees of an engine's file, into which nothing is written meanwhile and whose log is empty. It counts no facts.
func DiskOf(ctx context.Context, e Engine, path string) (d Disk, err error) {
	b, err := openBare(ctx, e, false)
	if err != nil {
		return Disk{}, err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	p, err := openPages(path)
	if err != nil {
		return Disk{}, err
	}
	defer func() { err = errors.Join(err, p.file.Close()) }()

	d = Disk{Bytes: p.bytes, Tables: map[string]int64{}, Other: p.bytes}
	segments, err := b.prepareNamed("segments")
	if err != nil {
		return d, err
	}
	row, err := segments.first(nil)
	if err != nil {
		return d, err
	}
	d.Segments = number(row[0])
	trees, err := b.prepareNamed("trees")
	if err != nil {
		return d, err
	}
	add := func(table string, root int64) error {
		n, err := p.tree(root)
		d.Tables[table] += n * p.size
		d.Other -= n * p.size
		return err
	}
	if err := add("sqlite_schema", 1); err != nil {
		return d, err
	}
	err = trees.each(nil, func() error { return add(text(trees.row[0]), number(trees.row[1])) })
	return d, err
}

// pages reads the pages of a file.
type pages struct {
	file        *os.File
	bytes, size int64
}

func openPages(path string) (*pages, error) {
	in, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	p := &pages{file: in}
	if p.bytes, err = in.Seek(0, io.SeekEnd); err == nil {
		const sizeAt = 16 // in the header
		var size [2]byte
		_, err = in.ReadAt(size[:], sizeAt)
		p.size = int64(binary.BigEndian.Uint16(size[:]))
	}
	if err != nil {
		return nil, errors.Join(err, in.Close())
	}
	if p.size == 1 {
		p.size = 1 << 16
	}
	return p, nil
}

// tree counts the pages of a tree.
func (p *pages) tree(root int64) (int64, error) {
	page := make([]byte, p.size)
	if _, err := p.file.ReadAt(page, (root-1)*p.size); err != nil {
		return 0, fmt.Errorf("page %d: %w", root, err)
	}
	head := page
	if root == 1 {
		head = page[100:] // after the header of the file
	}
	switch head[0] {
	case 10, 13: // leaves
		return 1, nil
	case 2, 5: // inner pages
	default:
		return 0, fmt.Errorf("page %d is of kind %d", root, head[0])
	}
	n := int64(1)
	below := func(child uint32) error {
		some, err := p.tree(int64(child))
		n += some
		return err
	}
	for i := range int(binary.BigEndian.Uint16(head[3:])) {
		cell := binary.BigEndian.Uint16(head[12+2*i:])
		if err := below(binary.BigEndian.Uint32(page[cell:])); err != nil {
			return n, err
		}
	}
	return n, below(binary.BigEndian.Uint32(head[8:]))
}
