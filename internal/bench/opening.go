package bench

import (
	"context"
	"errors"
	"net/url"

	sqlite3 "github.com/mattn/go-sqlite3"
)

func openRow() Row {
	return Row{
		Name: "open", Title: "open the large file, `Get`, close", Baseline: "driver alone: open, read the schema, one seek, close",
		Bar: 5, Open: openAgainstDriver,
	}
}

func openAgainstDriver(ctx context.Context, f *Files) (*Sides, error) {
	large, err := f.large(ctx)
	if err != nil {
		return nil, err
	}
	schema, err := statement("schema")
	if err != nil {
		return nil, err
	}
	seek, err := statement("seek")
	if err != nil {
		return nil, err
	}
	path := "file:" + (&url.URL{Path: large.path}).EscapedPath()
	next := large.slots(4)
	return &Sides{
		Baseline: each(func(ctx context.Context) error { return openAlone(ctx, path, schema, seek) }),
		Subject:  each(func(ctx context.Context) error { return large.openAndGet(ctx, next()) }),
	}, nil
}

// SQLite is the version of the SQLite that the driver was built with.
func SQLite(ctx context.Context) (version string, err error) {
	conn, err := (&sqlite3.SQLiteDriver{}).Open(":memory:")
	if err != nil {
		return "", err
	}
	b := newBare(ctx, conn)
	defer func() { err = errors.Join(err, b.Close()) }()
	st, err := b.prepareNamed("version")
	if err != nil {
		return "", err
	}
	row, err := st.first(nil)
	if err != nil {
		return "", err
	}
	return text(row[0]), nil
}

// openAlone is what nothing over this driver can do without.
func openAlone(ctx context.Context, path, schema, seek string) (err error) {
	conn, err := (&sqlite3.SQLiteDriver{}).Open(path)
	if err != nil {
		return err
	}
	b := newBare(ctx, conn)
	defer func() { err = errors.Join(err, b.Close()) }()
	st, err := b.prepare(schema)
	if err != nil {
		return err
	}
	if err := st.run(nil); err != nil {
		return err
	}
	if st, err = b.prepare(seek); err != nil {
		return err
	}
	_, err = st.first(arguments(tenantName))
	return err
}

func (f *file) openAndGet(ctx context.Context, at slot) (err error) {
	l, t, err := f.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	_, err = t.Current().Get(ctx, at.subject, attributes[at.attribute])
	return err
}
