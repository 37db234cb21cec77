package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/sgam-ledger/sgam/internal/bench"
)

// result is what the rounds of a row gave.
type result struct {
	bench.Row
	baseline, subject time.Duration // of one operation, the median over the rounds
	ratio, low, high  float64       // the median, and the interval that holds it
	confidence        float64
}

// turns are how often each side is on in a round, when an operation is short.
const turns = 10

// measure runs the rounds of one row.
func (s *settings) measure(ctx context.Context, files *bench.Files, row bench.Row) (r result, err error) {
	sides, err := row.Open(ctx, files)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, sides.Close()) }()
	n, on, parts := 1, 1, sides.Parts
	if parts == 0 {
		on, parts = turns, 1
		if n, err = s.operations(ctx, sides.Baseline, sides.Subject); err != nil {
			return r, err
		}
	}
	var baselines, subjects []time.Duration
	var ratios []float64
	for i := range s.rounds {
		b, x, err := round(ctx, sides, n, on, i)
		if err != nil {
			return r, err
		}
		each := time.Duration(n * on * parts)
		baselines, subjects = append(baselines, b/each), append(subjects, x/each)
		ratios = append(ratios, float64(x)/float64(b))
	}
	r = result{Row: row, baseline: median(baselines), subject: median(subjects), ratio: median(ratios)}
	r.low, r.high, r.confidence = interval(ratios)
	return r, nil
}

// round gives each side its turns, of n operations each. Who begins changes, so that neither always finds what the other
// left behind.
func round(ctx context.Context, sides *bench.Sides, n, turns, first int) (baseline, subject time.Duration, err error) {
	for turn := first; turn < first+turns; turn++ {
		order := []struct {
			bench.Side
			took *time.Duration
		}{{sides.Baseline, &baseline}, {sides.Subject, &subject}}
		if turn%2 == 1 {
			slices.Reverse(order)
		}
		for _, side := range order {
			took, err := timed(ctx, side.Side, n)
			if err != nil {
				return 0, 0, err
			}
			*side.took += took
		}
	}
	return baseline, subject, nil
}

func timed(ctx context.Context, side bench.Side, n int) (time.Duration, error) {
	if side.Ready != nil {
		if err := side.Ready(ctx, n); err != nil {
			return 0, err
		}
	}
	start := time.Now()
	err := side.Run(ctx, n)
	return time.Since(start), err
}

// operations is how many operations fill a slice of time on the fastest side. Finding out warms all of them up.
func (s *settings) operations(ctx context.Context, sides ...bench.Side) (int, error) {
	for n := 1; ; n *= 2 {
		var fastest time.Duration = math.MaxInt64
		for _, side := range sides {
			took, err := timed(ctx, side, n)
			if err != nil {
				return 0, err
			}
			fastest = min(fastest, took)
		}
		if fastest >= s.slice/2 {
			return max(1, int(float64(n)*float64(s.slice)/float64(fastest))), nil
		}
	}
}

func median[T time.Duration | float64](values []T) T {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// interval is the narrowest pair of values, as far from either end, between which the true median lies with a confidence
// of at least 95 %, and that confidence. It assumes nothing of how the values are spread: each is on either side of the
// median with equal odds, so how many are follows from tossing coins. With too few values it is all of them.
func interval(values []float64) (low, high, confidence float64) {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	outside, chance := 0.0, math.Pow(2, -float64(n)) // of at most k values below the median, of exactly k
	low, high, confidence = sorted[0], sorted[n-1], 1-2*chance
	for k := 0; k < n/2; k++ {
		outside += chance
		if 1-2*outside < .95 {
			break
		}
		low, high, confidence = sorted[k], sorted[n-1-k], 1-2*outside
		chance *= float64(n-k) / float64(k+1)
	}
	return low, high, confidence
}

// verdict is the line's last word.
func (r *result) verdict() string {
	switch {
	case r.Bar == 0:
		return fmt.Sprintf("%.2f", r.ratio)
	case r.ratio <= r.Bar:
		return fmt.Sprintf("%.2f, MET", r.ratio)
	}
	return fmt.Sprintf("%.2f, MISSED", r.ratio)
}
