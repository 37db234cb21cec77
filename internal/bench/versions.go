package bench

import (
	"context"
	"errors"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/migrate"
	"github.com/sgam-ledger/sgam/schema"
)

// customerNow is the second version of the memory type: what was a text has become something that has one.
type customerNow struct {
	PassportDeadline deadline `json:"passport_deadline"`
	Email            address  `json:"email"`
	City             city     `json:"city"`
	Plan             plan     `json:"plan"`
	Language         language `json:"language"`
}

type deadline struct {
	Until   sgam.Date `json:"until"`
	Country string    `json:"country"`
}

type address struct {
	Address  string `json:"address" validate:"email"`
	Verified bool   `json:"verified"`
}

type city struct {
	Name    string `json:"name" validate:"required"`
	Country string `json:"country"`
}

type plan struct {
	Name  string `json:"name" validate:"oneof=free team business"`
	Seats int    `json:"seats"`
}

type language struct {
	Code  string `json:"code" validate:"len=2"`
	Level string `json:"level" validate:"oneof=unknown some fluent"`
}

// customerLens leads every value from the first version into the second and back. Tags are those of the fields in order.
const customerLens = `{"type": "customer", "version": 2, "attributes": [
	{"tag": 1, "ops": [{"op": "wrap", "prop": "deadline"}, {"op": "add", "prop": "country", "default": "unknown"},
		{"op": "rename_prop", "from": "deadline", "to": "until"}]},
	{"tag": 2, "ops": [{"op": "wrap", "prop": "email"}, {"op": "add", "prop": "verified", "default": false},
		{"op": "rename_prop", "from": "email", "to": "address"}]},
	{"tag": 3, "ops": [{"op": "wrap", "prop": "city"}, {"op": "add", "prop": "country", "default": "unknown"},
		{"op": "rename_prop", "from": "city", "to": "name"}]},
	{"tag": 4, "ops": [{"op": "wrap", "prop": "plan"}, {"op": "add", "prop": "seats", "default": 1},
		{"op": "rename_prop", "from": "plan", "to": "name"}]},
	{"tag": 5, "ops": [{"op": "wrap", "prop": "language"}, {"op": "add", "prop": "level", "default": "unknown"},
		{"op": "rename_prop", "from": "language", "to": "code"}]}]}`

const (
	customerType = "customer"
	newForm      = 2
)

// declaredBoth declares both versions, and the lens between them.
func declaredBoth() (*schema.Registry, error) {
	types, err := declared()
	if err != nil {
		return nil, err
	}
	_, err = schema.DefineType[customerNow](types, customerType, newForm, &schema.TypeSpec{
		Fields: map[string]*schema.Spec{"passport_deadline": {Retention: "identity_documents"}},
	})
	if err != nil {
		return nil, err
	}
	return types, types.AddLens([]byte(customerLens))
}

// versioned is a copy of a file in which the second version is registered, and no fact is in it.
func (f *Files) versioned(ctx context.Context, from *file) (*file, error) {
	made, err := f.copy(from)
	if err != nil {
		return nil, err
	}
	if made.types, err = declaredBoth(); err != nil {
		return nil, err
	}
	l, _, err := made.open(ctx)
	if err != nil {
		return nil, err
	}
	return made, l.Close()
}

// lensed is the small file with a second version.
func (f *Files) lensed(ctx context.Context) (*file, error) {
	return f.make("lensed", func() (*file, error) {
		small, err := f.small(ctx)
		if err != nil {
			return nil, err
		}
		return f.versioned(ctx, small)
	})
}

// migrated is the small file after its migration to the second version, which reads and decides.
func (f *Files) migrated(ctx context.Context) (*file, error) {
	return f.make("migrated", func() (*file, error) {
		lensed, err := f.lensed(ctx)
		if err != nil {
			return nil, err
		}
		made, err := f.copy(lensed)
		if err != nil {
			return nil, err
		}
		l, _, err := made.open(ctx)
		if err != nil {
			return nil, err
		}
		return made, errors.Join(migrateTo(ctx, l), l.Close())
	})
}

func migrateTo(ctx context.Context, l *sgam.Ledger) error {
	p, err := migrate.Draw(ctx, l, migrate.Options{Type: customerType})
	if err != nil {
		return err
	}
	if err := migrate.Run(ctx, l, p, nil); err != nil {
		return err
	}
	if _, err := migrate.Verify(ctx, l, p.Target("")); err != nil {
		return err
	}
	return migrate.Cutover(ctx, l, p.Target(""))
}

// planned is a file with a second version, and the plan to migrate it there.
func (f *Files) planned(ctx context.Context, from *file) (*file, *migrate.Plan, error) {
	made, err := f.versioned(ctx, from)
	if err != nil {
		return nil, nil, err
	}
	l, _, err := made.open(ctx)
	if err != nil {
		return nil, nil, err
	}
	p, err := migrate.Draw(ctx, l, migrate.Options{Type: customerType})
	return made, p, errors.Join(err, l.Close())
}

// inNewForm is Current().AtVersion().Get of slots at random, in the second version.
func inNewForm(t *sgam.Tenant, next func() slot) Side {
	return each(func(ctx context.Context) error {
		at := next()
		_, err := t.Current().AtVersion(customerType, newForm).Get(ctx, at.subject, attributes[at.attribute])
		return err
	})
}

// getThroughLens holds reads that convert against reads of what is stored, in one file.
func getThroughLens(ctx context.Context, f *Files) (*Sides, error) {
	lensed, err := f.lensed(ctx)
	if err != nil {
		return nil, err
	}
	s := &Sides{}
	t, _, err := s.reading(ctx, lensed)
	if err != nil {
		return nil, s.after(err)
	}
	s.Baseline, s.Subject = current(t, lensed.slots(1)), inNewForm(t, lensed.slots(1))
	return s, nil
}

// getEncoded holds reads of a file that was migrated against those of the file as it was before anybody thought of it.
func getEncoded(ctx context.Context, f *Files) (*Sides, error) {
	small, err := f.small(ctx)
	if err != nil {
		return nil, err
	}
	migrated, err := f.migrated(ctx)
	if err != nil {
		return nil, err
	}
	return getBoth(ctx, small, migrated)
}
