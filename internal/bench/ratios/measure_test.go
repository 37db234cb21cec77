package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestMedianIsTheMiddle(t *testing.T) {
	t.Parallel()
	assert.InDelta(t, 2, median([]float64{3, 1, 2}), 0)
	assert.InDelta(t, 2.5, median([]float64{4, 1, 3, 2}), 0)
	assert.Equal(t, time.Duration(7), median([]time.Duration{7}))
}

func TestIntervalOfTheMedianFollowsFromTossingCoins(t *testing.T) {
	t.Parallel()
	low, high, confidence := interval([]float64{10, 9, 8, 7, 6, 5, 4, 3, 2, 1})
	assert.Equal(t, []float64{2, 9}, []float64{low, high}, "the second and the ninth of ten")
	assert.InDelta(t, 1-22.0/1024, confidence, 1e-12)

	low, high, confidence = interval([]float64{1, 2, 3})
	assert.Equal(t, []float64{1, 3}, []float64{low, high}, "three are too few to leave one out")
	assert.InDelta(t, .75, confidence, 1e-12)

	low, high, confidence = interval([]float64{5})
	assert.Equal(t, []float64{5, 5}, []float64{low, high})
	assert.Zero(t, confidence)
}
