package migrate

import (
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/sgam-ledger/sgam"
)

// conversions converts values between versions, and remembers what it made: values repeat, and a conversion of equal
// values is equal. It is safe for concurrent use.
type conversions struct {
	l *sgam.Ledger

	mu    sync.Mutex
	known map[question]conversion
	bytes int
}

// question is one value on its way from one version to another.
type question struct {
	attribute sgam.AttributeID
	from, to  int
	value     string
}

// conversion is the answer: a value, or why there is none.
type conversion struct {
	sgam.Converted
	unfit *sgam.FieldError
}

const (
	// maxRemembered bounds the bytes of the values that are remembered, maxRemembering those of one of them.
	maxRemembered  = 16 << 20
	maxRemembering = 4 << 10
	// rememberedOverhead is what remembering one costs beside its bytes.
	rememberedOverhead = 160
)

func newConversions(l *sgam.Ledger) *conversions {
	return &conversions{l: l, known: map[question]conversion{}}
}

// of converts a value. An error is one of the ledger; a value that cannot go over is a conversion that says why.
func (c *conversions) of(ctx context.Context, id sgam.AttributeID, name string, from, to int, value []byte) (conversion, error) {
	c.mu.Lock()
	made, ok := c.known[question{id, from, to, string(value)}]
	c.mu.Unlock()
	if ok {
		return made, nil
	}
	out, err := c.l.Convert(ctx, name, from, to, value)
	if fe, unfit := errors.AsType[*sgam.FieldError](err); unfit {
		made, err = conversion{unfit: fe}, nil
	} else {
		made = conversion{Converted: out}
	}
	if err != nil || len(value)+len(out.Value) > maxRemembering {
		return made, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	size := len(value) + len(out.Value) + rememberedOverhead
	if c.bytes += size; c.bytes > maxRemembered {
		clear(c.known)
		c.bytes = size
	}
	c.known[question{id, from, to, string(value)}] = made
	return made, nil
}

// stored converts a stored value into a version.
func (c *conversions) stored(ctx context.Context, v *sgam.StoredValue, to int) (conversion, error) {
	return c.of(ctx, v.Slot.Attribute, v.Attribute, v.Version, to, v.Value)
}

// pointer is where in a fact a fault of its value is.
func pointer(fe *sgam.FieldError) string { return "/" + strings.TrimSuffix("value/"+fe.Field, "/") }
