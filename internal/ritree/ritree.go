// Package ritree is where a segment that is no longer believed is stored, and where to look for it, so that a read at a past
// known time costs a few seeks, however many versions a slot has: a relational interval tree, after Kriegel, Pötke and
// Seidl, VLDB 2000.
//
// Known time is a number line of microseconds, counted from 1 at the beginning of time. A number's level is the exponent
// of the largest power of two that divides it. The numbers form a tree: the ancestors of a number are those that one
// reaches by replacing its low bits with a single one. A closed segment is stored at its fork node, the number of the
// highest level inside its known interval: wherever in the interval one starts, that node is among the ancestors, at
// its level. So a read at a known time looks at one node a level, of the levels that occur in the slot. The rectangles
// of a slot do not overlap and all those of one node contain its instant, so their valid intervals are disjoint, and
// one seek for the last start that is not after the valid time finds the only candidate.
package ritree

import (
	"math/bits"

	"github.com/sgam-ledger/sgam"
)

// levels is how many levels the tree of all known times has.
const levels = 60

// tick is a known time as a number of the tree.
func tick(k sgam.Instant) uint64 {
	return uint64(k-sgam.Beginning) + 1 //nolint:gosec // no instant is before the beginning
}

// Fork is the node of a segment that was believed in [from, to).
func Fork(from, to sgam.Instant) int64 {
	first, last := tick(from), tick(to)-1
	level := bits.Len64((first-1)^last) - 1
	return int64(last &^ (1<<level - 1)) //nolint:gosec // all of time needs less than 59 bits
}

// Level is the bit of a node's level in the mask of a slot's levels.
func Level(node int64) int64 { return node & -node }

// Open are the nodes of the segments that are still believed.
func Open() []int64 { return []int64{0} }

// At are the nodes at which a segment can be that was known at a time: the open ones, and the ancestors of the time.
func At(k sgam.Instant) []int64 {
	nodes := make([]int64, 1, levels+1)
	at := tick(k)
	for level := range levels {
		nodes = append(nodes, int64(at&^(1<<(level+1)-1)|1<<level)) //nolint:gosec // less than 2 to the power of 61
	}
	return nodes
}
