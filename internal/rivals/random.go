package rivals

import (
	"math/rand/v2"
)

// draws are the same for the same seed.
func draws(seed uint64) *rand.Rand {
	return rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // every keeper gets the same, and nothing is kept secret
}
