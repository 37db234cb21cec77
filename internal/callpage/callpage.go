// Package callpage gathers the recorded calls of one page. An engine lists the calls first, then reads them layer by layer:
// what each row belongs to follows from the number or the known time of its call.
package callpage

import (
	"fmt"
	"sort"

	"github.com/sgam-ledger/sgam"
)

// most is how many facts a page has, and how many values that lenses made, but for a single call that has more.
const most = 10_000

// Page is the calls of one page, in their order. The zero value is an empty page.
type Page struct {
	Calls []sgam.StoredCall
	// Before is the newest fact before the first call.
	Before int64
	// More says that calls were left for the next page.
	More bool

	newest []int64 // the newest fact after each of the calls
	formed int
}

// Take adds the next call, which left a fact as the newest, unless the page is full: then it and all that follow are left for
// the next page.
func (p *Page) Take(call sgam.StoredCall, fact int64, limit int) {
	if p.More = p.More || len(p.Calls) == limit || len(p.Calls) > 0 && fact-p.Before > most; !p.More {
		p.Calls, p.newest = append(p.Calls, call), append(p.newest, fact)
	}
}

// First and Until are the numbers of the first and the last call.
func (p *Page) First() int64 { return p.Calls[0].Seq }

// Until is the number of the last call.
func (p *Page) Until() int64 { return p.Calls[len(p.Calls)-1].Seq }

// KnownUntil is the known time of the last call.
func (p *Page) KnownUntil() sgam.Instant { return p.Calls[len(p.Calls)-1].Change.Known }

// Newest is the newest fact after the last call: those of the page are in (Before, Newest].
func (p *Page) Newest() int64 { return p.newest[len(p.newest)-1] }

// At is the change of the call of a number.
func (p *Page) At(seq int64) *sgam.Change { return &p.Calls[seq-p.First()].Change }

// KnownAt is the change of the call of a known time.
func (p *Page) KnownAt(known sgam.Instant) (*sgam.Change, error) {
	i := p.from(known)
	if i == len(p.Calls) || p.Calls[i].Change.Known != known {
		return nil, fmt.Errorf("sgam: the ledger is damaged: there is no call known at %s", known)
	}
	return &p.Calls[i].Change, nil
}

// Forming is the change of the call of a known time in which a lens made a value. These come first and in order of known time,
// since a migration makes so many of them in a call that they decide how many calls a page has: the page ends before the call
// that brings it too many. It is nil when the call is not on the page any more.
func (p *Page) Forming(known sgam.Instant) (*sgam.Change, error) {
	if known > p.KnownUntil() {
		return nil, nil
	}
	at, err := p.KnownAt(known)
	if err != nil {
		return nil, err
	}
	if p.formed++; p.formed > most && len(at.Encodings) == 0 && at != &p.Calls[0].Change {
		i := p.from(known)
		p.Calls, p.newest, p.More = p.Calls[:i], p.newest[:i], true
		return nil, nil
	}
	return at, nil
}

// from is the position of the first call known at a time or later.
func (p *Page) from(known sgam.Instant) int {
	return sort.Search(len(p.Calls), func(i int) bool { return p.Calls[i].Change.Known >= known })
}

// Erased says that a call cannot be told whole.
func Erased(what string) error {
	return fmt.Errorf("%w: the content of %s was erased, so its call cannot be told whole", sgam.ErrUnsupported, what)
}
