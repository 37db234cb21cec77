package postgres

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/internal/columns"
)

// Values travel in the binary format of the server's protocol. The tables have five types of column, so there is little
// to it, and a driver's type registry would cost more than the rows.

// The numbers of the element types of arrays.
const (
	oidBytes = 17
	oidInt   = 20
	oidText  = 25
)

// encode is an argument of a statement. Nil, also as a pointer or a slice, is NULL.
func encode(arg any) ([]byte, error) {
	switch v := arg.(type) {
	case nil:
		return nil, nil
	case int64:
		return binary.BigEndian.AppendUint64(nil, uint64(v)), nil //nolint:gosec // two's complement is the format
	case sgam.Instant:
		return binary.BigEndian.AppendUint64(nil, uint64(v)), nil //nolint:gosec // likewise
	case int:
		return binary.BigEndian.AppendUint64(nil, uint64(v)), nil //nolint:gosec // likewise
	case bool:
		if v {
			return []byte{1}, nil
		}
		return []byte{0}, nil
	case string:
		return []byte(v), nil
	case []byte:
		return v, nil
	case sgam.MemoryID:
		return v[:], nil
	case *float64:
		if v == nil {
			return nil, nil
		}
		return binary.BigEndian.AppendUint64(nil, math.Float64bits(*v)), nil
	case []int64:
		return array(oidInt, v, func(b []byte, n int64) []byte { return binary.BigEndian.AppendUint64(b, uint64(n)) }), nil //nolint:gosec // likewise
	case []string:
		return array(oidText, v, func(b []byte, s string) []byte { return append(b, s...) }), nil
	case [][]byte:
		return array(oidBytes, v, func(b []byte, s []byte) []byte { return append(b, s...) }), nil
	}
	return nil, fmt.Errorf("sgam: postgres: no column has type %T", arg)
}

// array encodes a list of one dimension; a nil one is NULL.
func array[T any](oid uint32, list []T, element func([]byte, T) []byte) []byte {
	if list == nil {
		return nil
	}
	dimensions := uint32(1)
	if len(list) == 0 {
		dimensions = 0
	}
	b := binary.BigEndian.AppendUint32(nil, dimensions)
	b = binary.BigEndian.AppendUint32(b, 0) // no element is NULL
	b = binary.BigEndian.AppendUint32(b, oid)
	if dimensions == 0 {
		return b
	}
	b = binary.BigEndian.AppendUint32(b, uint32(len(list))) //nolint:gosec // a list of a call
	b = binary.BigEndian.AppendUint32(b, 1)
	for _, v := range list {
		start := len(b)
		b = element(append(b, 0, 0, 0, 0), v)
		binary.BigEndian.PutUint32(b[start:], uint32(len(b)-start-4)) //nolint:gosec // a name or a digest
	}
	return b
}

// row is one row of an answer. It is valid until the next one is read; what its methods return is the caller's to keep.
type row [][]byte

func (r row) null(i int) bool { return r[i] == nil }

// int is a number, 0 for NULL.
func (r row) int(i int) int64 {
	if len(r[i]) != 8 {
		return 0
	}
	return int64(binary.BigEndian.Uint64(r[i])) //nolint:gosec // two's complement is the format
}

func (r row) instant(i int) sgam.Instant { return sgam.Instant(r.int(i)) }

// span is the half-open interval of two columns. An end that is NULL is open.
func (r row) span(i int) sgam.Span {
	s := sgam.Span{From: r.instant(i), To: sgam.Forever}
	if !r.null(i + 1) {
		s.To = r.instant(i + 1)
	}
	return s
}

func (r row) flag(i int) bool { return len(r[i]) == 1 && r[i][0] == 1 }

// text is a text, empty for NULL.
func (r row) text(i int) string { return string(r[i]) }

// bytes are the bytes of a text or a digest, nil when there are none.
func (r row) bytes(i int) []byte { return append([]byte(nil), r[i]...) }

// memory is a memory id, zero for NULL.
func (r row) memory(i int) sgam.MemoryID {
	var id sgam.MemoryID
	copy(id[:], r[i])
	return id
}

// memories are memory ids one after the other.
func (r row) memories(i int) []sgam.MemoryID {
	const size = len(sgam.MemoryID{})
	var ids []sgam.MemoryID
	for b := r[i]; len(b) >= size; b = b[size:] {
		ids = append(ids, sgam.MemoryID(b[:size]))
	}
	return ids
}

func (r row) confidence(i int) *float64 {
	if len(r[i]) != 8 {
		return nil
	}
	f := math.Float64frombits(binary.BigEndian.Uint64(r[i]))
	return &f
}

// from are the columns from i on, as what is stored in them.
func (r row) from(i int) columns.Columns { return columns.Columns{Cells: cells{r}, First: i} }

// slot is a slot in the four columns that begin at i.
func (r row) slot(i int) sgam.SlotKey { return r.from(i).Slot() }

// cells are a row for package columns.
type cells struct{ row }

func (c cells) Null(i int) bool      { return c.null(i) }
func (c cells) Int(i int) int64      { return c.int(i) }
func (c cells) Flag(i int) bool      { return c.flag(i) }
func (c cells) Float(i int) *float64 { return c.confidence(i) }
func (c cells) Text(i int) string    { return c.text(i) }
func (c cells) Bytes(i int) []byte   { return c.bytes(i) }

// Go's values as arguments.

// orNull is NULL for an empty value.
func orNull[T ~string | ~[]byte](v T) any {
	if len(v) == 0 {
		return nil
	}
	return []byte(v)
}

// idOrNull is NULL for none.
func idOrNull(id int64) any {
	if id == 0 {
		return nil
	}
	return id
}

func memoryOrNull(id sgam.MemoryID) any {
	if id.IsZero() {
		return nil
	}
	return id
}

// blob is a digest as bytes; an empty one is no NULL.
func blob(s string) []byte { return append([]byte{}, s...) }

// blobs are digests as bytes.
func blobs(list []string) [][]byte {
	out := make([][]byte, len(list))
	for i, s := range list {
		out[i] = blob(s)
	}
	return out
}
