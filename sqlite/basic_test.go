//go:build cgo

package sqlite

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
)

func TestWhatWasSaidIsReadAtEachPointOfThePlane(t *testing.T) {
	ctx := context.Background()
	acme := tenant(t, open(t, newPath(t), nil), "acme").As("agent-7")
	first, err := acme.Apply(ctx, assert("mira", "deadline", "2026-07-15", day(1)).From(message("e1", day(1))))
	require.NoError(t, err)
	require.Equal(t, sgam.Applied, first.Outcome)
	second, err := acme.Apply(ctx, assert("mira", "due", "2026-06-30", day(3)).From(message("e2", day(3))))
	require.NoError(t, err)
	require.Equal(t, first.Memory, second.Supersedes)

	f, err := acme.Current().Get(ctx, "mira", "deadline")
	require.NoError(t, err)
	require.JSONEq(t, `"2026-06-30"`, string(f.Value))
	require.Equal(t, "e2", f.Episode)
	require.Equal(t, "agent-7", f.Principal)
	f, err = acme.ValidAt(day(2)).Get(ctx, "mira", "deadline")
	require.NoError(t, err)
	require.JSONEq(t, `"2026-07-15"`, string(f.Value))
	require.Equal(t, day(3), *f.Valid.To)
	f, err = acme.ValidAt(day(9)).KnownAt(first.Known).Get(ctx, "mira", "deadline")
	require.NoError(t, err)
	require.JSONEq(t, `"2026-07-15"`, string(f.Value))
	require.Nil(t, f.Valid.To)
	_, err = acme.Current().Get(ctx, "mira", "email")
	require.ErrorIs(t, err, sgam.ErrUnknown)
}
