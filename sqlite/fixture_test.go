//go:build cgo

package sqlite

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	sqlite3 "github.com/mattn/go-sqlite3"
	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
)

// plain declares one type with attributes of every policy and cardinality that the engine has to carry. Values are not
// judged.
type plain struct{}

var attributes = []sgam.AttributeSpec{
	{AttributeName: sgam.AttributeName{Tag: 1, Name: "deadline", Aliases: []string{"due"}}, Retention: "documents"},
	{AttributeName: sgam.AttributeName{Tag: 2, Name: "allergy", Many: true}},
	{AttributeName: sgam.AttributeName{Tag: 3, Name: "email"}, Policy: sgam.KeepHighestConfidence},
	{AttributeName: sgam.AttributeName{Tag: 4, Name: "birthday"}, Policy: sgam.Immutable},
	{AttributeName: sgam.AttributeName{Tag: 5, Name: "consent"}, Policy: sgam.ConfirmFirst},
}

func document() sgam.TypeDocument {
	doc := sgam.TypeDocument{Type: "person", Version: 1, JSON: []byte(`{"type":"person"}`), Hash: "h1", Semantic: "s1"}
	for _, a := range attributes {
		doc.Attributes = append(doc.Attributes, a.AttributeName)
	}
	return doc
}

func (plain) Declared() ([]sgam.TypeDocument, error) { return []sgam.TypeDocument{document()}, nil }

func (plain) Compile(doc sgam.TypeDocument) ([]sgam.AttributeSpec, error) {
	specs := make([]sgam.AttributeSpec, len(doc.Attributes))
	for i, a := range doc.Attributes {
		specs[i] = sgam.AttributeSpec{AttributeName: a}
		for _, known := range attributes {
			if known.Tag == a.Tag {
				specs[i].Policy, specs[i].Retention = known.Policy, known.Retention
			}
		}
		specs[i].Check = func([]byte) []sgam.FieldError { return nil }
	}
	return specs, nil
}

func (plain) Steps(sgam.TypeDocument, sgam.TypeDocument) ([]sgam.AttributeStep, error) {
	return nil, nil
}

func (plain) Follows(sgam.TypeDocument, sgam.TypeDocument) error { return nil }

// day is a day of June 2026.
func day(n int) time.Time { return time.Date(2026, 6, n, 0, 0, 0, 0, time.UTC) }

func message(id string, at time.Time) sgam.Episode {
	return sgam.Episode{ID: id, Kind: sgam.Message, OccurredAt: at, Text: "text of " + id}
}

func assert(subject, attribute, value string, from time.Time) sgam.MemoryDelta {
	return sgam.MemoryDelta{Op: sgam.Assert, Subject: subject, Attribute: attribute, Value: []byte(fmt.Sprintf("%q", value)), ValidFrom: &from}
}

// open opens a ledger and checks it at the end.
func open(tb testing.TB, path string, opts *sgam.Options) *sgam.Ledger {
	tb.Helper()
	if opts == nil {
		opts = &sgam.Options{}
	}
	if opts.Schemas == nil {
		opts.Schemas = plain{}
	}
	l, err := Open(context.Background(), path, opts)
	require.NoError(tb, err)
	tb.Cleanup(func() {
		for err := range l.Verify(context.Background()) {
			tb.Error(err)
		}
		require.NoError(tb, l.Close())
	})
	return l
}

func newPath(tb testing.TB) string {
	tb.Helper()
	return filepath.Join(tb.TempDir(), "agent.db")
}

func tenant(tb testing.TB, l *sgam.Ledger, name string) *sgam.Tenant {
	tb.Helper()
	t, err := l.Tenant(name)
	require.NoError(tb, err)
	return t
}

// storeOf is the engine of a ledger.
func storeOf(tb testing.TB, l *sgam.Ledger) *store {
	tb.Helper()
	s, ok := l.Store().(*store)
	require.True(tb, ok)
	return s
}

// bare is a connection of the driver alone.
func bare(tb testing.TB, dsn string) *sqlite3.SQLiteConn {
	tb.Helper()
	opened, err := (&sqlite3.SQLiteDriver{}).Open(dsn)
	require.NoError(tb, err)
	raw, ok := opened.(*sqlite3.SQLiteConn)
	require.True(tb, ok)
	return raw
}
