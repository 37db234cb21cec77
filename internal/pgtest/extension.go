package pgtest

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sgam-ledger/sgam/internal/statements"
)

//go:embed sql/*.sql
var sqlFiles embed.FS

var texts = statements.Must(sqlFiles)

// Extend gives a database an extension and those that it needs. It fails with [ErrMissing] when the extension is not installed
// for the version of the cluster.
func (c *Cluster) Extend(ctx context.Context, database, extension string) error {
	err := c.Do(ctx, database, fmt.Sprintf(texts["extend"], pgx.Identifier{extension}.Sanitize()))
	const notSupported = "0A000"
	if refused, ok := errors.AsType[*pgconn.PgError](err); ok && refused.Code == notSupported {
		version := filepath.Base(filepath.Dir(c.bin))
		return fmt.Errorf("%w postgresql-%s-%s: %w", ErrMissing, version, extension, err)
	}
	return err
}
