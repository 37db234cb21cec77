package transfer

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"iter"

	"github.com/sgam-ledger/sgam"
)

// Comparison is what two ledgers were found to hold.
type Comparison struct {
	Tenants []Compared `json:"tenants"`
	// Differences are empty when both ledgers say the same, to every question at every pair of times.
	Differences []Difference `json:"differences"`
}

// Same reports whether no difference was found.
func (c *Comparison) Same() bool { return len(c.Differences) == 0 }

// Compared is one tenant in both ledgers.
type Compared struct {
	Tenant string `json:"tenant"`
	// Calls and Facts are those that both sides have in the same words.
	Calls int64 `json:"calls"`
	Facts int64 `json:"facts"`
	// From and To are the SHA-256 of all calls, in one form for every engine. Equal ledgers have equal ones.
	From string `json:"from"`
	To   string `json:"to"`
}

// Difference is one finding. It names no values.
type Difference struct {
	// Tenant is empty for a finding about the whole ledger.
	Tenant string `json:"tenant,omitempty"`
	// Call is the number of the first call that differs, 0 when the finding is not about one.
	Call int64 `json:"call,omitempty"`
	// Detail says what was found.
	Detail string `json:"detail"`
}

// Compare proves that two ledgers hold the same: the same schemas, for each tenant the same calls in the same words, and
// layers on both sides that follow from their facts. It reads both ledgers whole. Neither should be written meanwhile.
func Compare(ctx context.Context, from, to *sgam.Ledger, o *Options) (*Comparison, error) {
	if o == nil {
		o = &Options{}
	}
	c := &comparer{found: &Comparison{Tenants: []Compared{}, Differences: []Difference{}}}
	if !hmac.Equal(from.Store().DigestKey(), to.Store().DigestKey()) {
		c.differ("", 0, "the digest keys differ")
	}
	if err := c.types(ctx, from, to, len(o.Tenants) == 0); err != nil {
		return nil, err
	}
	tenants, err := o.tenants(ctx, from)
	if err != nil {
		return nil, err
	}
	strange, err := o.stranger(ctx, tenants, to)
	if err != nil {
		return nil, err
	}
	if strange != "" {
		c.differ(strange, 0, "only the second ledger has this tenant")
	}
	for _, name := range tenants {
		if err := c.tenant(ctx, from, to, name); err != nil {
			return nil, err
		}
	}
	return c.found, nil
}

type comparer struct {
	found *Comparison
}

func (c *comparer) differ(tenant string, call int64, format string, args ...any) {
	c.found.Differences = append(c.found.Differences, Difference{tenant, call, fmt.Sprintf(format, args...)})
}

// types compares the registries. Types of the second ledger alone count when the whole ledgers are compared.
func (c *comparer) types(ctx context.Context, from, to *sgam.Ledger, whole bool) error {
	here, err := from.Types(ctx)
	if err != nil {
		return err
	}
	there, err := to.Types(ctx)
	if err != nil {
		return err
	}
	name := func(t *sgam.StoredType) string { return fmt.Sprintf("type %q version %d", t.Type, t.Version) }
	held := map[string]*sgam.StoredType{}
	for i := range there {
		held[name(&there[i])] = &there[i]
	}
	for i := range here {
		t := &here[i]
		switch other := held[name(t)]; {
		case other == nil:
			c.differ("", 0, "only the first ledger has %s", name(t))
		case other.Draft != t.Draft || other.Hash != t.Hash || !bytes.Equal(other.JSON, t.JSON):
			c.differ("", 0, "%s differs", name(t))
		case lensOf(t) != lensOf(other):
			c.differ("", 0, "the lens of %s differs", name(t))
		}
		delete(held, name(t))
	}
	for i := range there {
		if _, alone := held[name(&there[i])]; alone && whole {
			c.differ("", 0, "only the second ledger has %s", name(&there[i]))
		}
	}
	return nil
}

func lensOf(t *sgam.StoredType) string {
	if t.Lens == nil {
		return ""
	}
	return t.Lens.Hash
}

// side is one ledger while its calls are read.
type side struct {
	next func() (*sgam.StoredCall, error, bool)
	all  hash.Hash
}

// call reads the next call and adds it to the digest of all, nil at the end. Facts is how many it has.
func (s *side) call() (text []byte, seq, facts int64, err error) {
	call, err, more := s.next()
	if err != nil || !more {
		return nil, 0, 0, err
	}
	seq, facts = call.Seq, int64(len(call.Change.Facts))
	if text, err = call.Canonical(); err != nil {
		return nil, 0, 0, fmt.Errorf("transfer: call %d: %w", seq, err)
	}
	var size [8]byte
	binary.BigEndian.PutUint64(size[:], uint64(len(text)))
	s.all.Write(size[:])
	s.all.Write(text)
	return text, seq, facts, nil
}

func (s *side) sum() string { return hex.EncodeToString(s.all.Sum(nil)) }

// tenant compares one tenant, call by call, and lets both sides prove themselves.
func (c *comparer) tenant(ctx context.Context, from, to *sgam.Ledger, name string) error {
	one, err := from.Tenant(name)
	if err != nil {
		return err
	}
	other, err := to.Tenant(name)
	if err != nil {
		return err
	}
	a, b := &side{all: sha256.New()}, &side{all: sha256.New()}
	var stop func()
	a.next, stop = iter.Pull2(one.Calls(ctx, sgam.Beginning))
	defer stop()
	b.next, stop = iter.Pull2(other.Calls(ctx, sgam.Beginning))
	defer stop()
	sums := Compared{Tenant: name}
	for same := true; ; {
		x, seq, facts, err := a.call()
		if err != nil {
			return err
		}
		y, seqThere, _, err := b.call()
		if err != nil {
			return err
		}
		if x == nil && y == nil {
			break
		}
		switch {
		case !same:
		case bytes.Equal(x, y):
			sums.Calls, sums.Facts = sums.Calls+1, sums.Facts+facts
		default:
			same = false
			c.differ(name, max(seq, seqThere), "%s", whatDiffers(x, y))
		}
	}
	sums.From, sums.To = a.sum(), b.sum()
	c.found.Tenants = append(c.found.Tenants, sums)
	if err := c.prove(ctx, one, "first"); err != nil {
		return err
	}
	return c.prove(ctx, other, "second")
}

func whatDiffers(x, y []byte) string {
	switch {
	case y == nil:
		return "only the first ledger has this call, and those after it"
	case x == nil:
		return "only the second ledger has this call, and those after it"
	}
	return "the first call that differs"
}

// prove lets one side verify itself.
func (c *comparer) prove(ctx context.Context, t *sgam.Tenant, which string) error {
	for err := range t.Verify(ctx) {
		finding, ok := errors.AsType[*sgam.VerifyError](err)
		if !ok {
			return err
		}
		c.differ(t.Name(), 0, "the %s ledger does not follow from its facts: %s", which, finding.Error())
	}
	return nil
}
