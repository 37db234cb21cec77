//go:build !cgo

package sqlite

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWithoutCgoTheCureIsNamed(t *testing.T) {
	ctx := context.Background()
	_, err := Open(ctx, "agent.db", nil)
	require.ErrorIs(t, err, ErrNoCgo)
	require.ErrorContains(t, err, "CGO_ENABLED=1")
	_, err = OpenStore(ctx, "agent.db", nil)
	require.ErrorIs(t, err, ErrNoCgo)
	_, err = OpenCopy(ctx, "agent.db", nil, nil)
	require.ErrorIs(t, err, ErrNoCgo)
	require.ErrorIs(t, Upgrade(ctx, "agent.db"), ErrNoCgo)
}
