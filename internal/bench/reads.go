package bench

import (
	"context"
	"database/sql/driver"
	"errors"
	"time"

	"github.com/sgam-ledger/sgam"
)

func readRows() []Row {
	return []Row{
		{Name: "get", Title: "`Current().Get`", Baseline: "the same statement, driver alone", Bar: 1.5, Open: getAgainstDriver},
		{Name: "as-of", Title: "`ValidAt().KnownAt().Get`, ordinary slots", Baseline: "`Current().Get` there", Bar: 1.5, Open: asOfOrdinary},
		{Name: "as-of-versions", Title: "`ValidAt().KnownAt().Get`, a slot of many versions", Baseline: "`Current().Get` there", Bar: 2, Open: asOfDeep},
		{Name: "get-growth", Title: "`Current().Get`, large file, all subjects", Baseline: "small file", Bar: 1.3, Open: getGrowth},
		{Name: "get-growth-few", Title: "`Current().Get`, large file, 50 subjects", Baseline: "small file, 50 subjects", Bar: 1.3, Open: getGrowthOfFew},
		{Name: "get-large", Title: "`Current().Get`, large file, all subjects", Baseline: "the same statement there, driver alone", Bar: 1.5, Open: getLarge},
	}
}

// reading opens a file for one side of a row.
func (s *Sides) reading(ctx context.Context, f *file) (*sgam.Tenant, Engine, error) {
	l, t, err := f.open(ctx)
	if err != nil {
		return nil, nil, err
	}
	s.add(l.Close)
	e, err := engineOf(l)
	return t, e, err
}

func engineOf(l *sgam.Ledger) (Engine, error) {
	e, ok := l.Store().(Engine)
	if !ok {
		return nil, errors.New("the engine shows nothing of its driver")
	}
	return e, nil
}

// current is Current().Get of slots at random.
func current(t *sgam.Tenant, next func() slot) Side {
	return each(func(ctx context.Context) error {
		at := next()
		_, err := t.Current().Get(ctx, at.subject, attributes[at.attribute])
		return err
	})
}

func getAgainstDriver(ctx context.Context, f *Files) (*Sides, error) {
	small, err := f.small(ctx)
	if err != nil {
		return nil, err
	}
	return getOf(ctx, small)
}

func getLarge(ctx context.Context, f *Files) (*Sides, error) {
	large, err := f.large(ctx)
	if err != nil {
		return nil, err
	}
	return getOf(ctx, large)
}

func getOf(ctx context.Context, f *file) (*Sides, error) {
	s := &Sides{}
	t, e, err := s.reading(ctx, f)
	if err != nil {
		return nil, s.after(err)
	}
	s.Subject = current(t, f.slots(1))
	s.Baseline, err = s.bareCurrent(ctx, e, f.slots(1))
	return s, s.after(err)
}

// bareCurrent is the engine's statement for a current read, through the driver alone, into variables of the same kinds.
func (s *Sides) bareCurrent(ctx context.Context, e Engine, next func() slot) (Side, error) {
	ids, err := attributeIDs(ctx, e)
	if err != nil {
		return Side{}, err
	}
	b, err := openBare(ctx, e, false)
	if err != nil {
		return Side{}, err
	}
	s.add(b.Close)
	st, err := b.prepare(e.Statement("point_current"))
	if err != nil {
		return Side{}, err
	}
	args := arguments(tenantName, "", "", int64(0), []byte{}, int64(0), int64(sgam.Forever))
	return each(func(context.Context) error {
		at := next()
		args[1].Value, args[3].Value, args[5].Value = at.subject, ids[at.attribute], time.Now().UnixMicro()
		row, err := st.first(args)
		if err == nil {
			var into scanned
			into.scan(row)
		}
		return err
	}), nil
}

// attributeIDs are the numbers of the attributes in a file.
func attributeIDs(ctx context.Context, e Engine) ([attributesEach]int64, error) {
	var ids [attributesEach]int64
	types, err := e.Types(ctx)
	if err != nil {
		return ids, err
	}
	for _, typ := range types {
		for i, a := range typ.Attributes {
			for j, name := range attributes {
				if a.Name == name {
					ids[j] = int64(typ.IDs[i])
				}
			}
		}
	}
	return ids, nil
}

// scanned is what a program that reads a fact by itself would have it in.
type scanned struct {
	id, supersedes                    [16]byte
	op, retention, episode, principal string
	value                             []byte
	version                           int64
	confidence                        float64
	asserted, assertedTo, reach       time.Time
	recorded, valid, validTo, known   time.Time
	explained, erased                 bool
}

func (s *scanned) scan(row []driver.Value) {
	at := func(i int) time.Time { return time.UnixMicro(number(row[i])).UTC() }
	id := func(i int) (id [16]byte) { b, _ := row[i].([]byte); copy(id[:], b); return id }
	s.id, s.supersedes = id(2), id(16)
	s.op, s.retention, s.episode, s.principal = text(row[3]), text(row[10]), text(row[14]), text(row[15])
	s.asserted, s.assertedTo, s.reach, s.recorded = at(4), at(5), at(6), at(7)
	s.confidence, _ = row[8].(float64)
	s.version, s.explained, s.erased = number(row[9]), row[11] != nil, row[12] != nil
	s.value, _ = row[13].([]byte)
	s.valid, s.validTo, s.known = at(18), at(19), at(20)
}

// point is a point of the plane.
type point struct{ valid, known time.Time }

// ordinaryPoints draws points that ask for all that the history of an ordinary slot has to tell: what was known on a day
// about that day, an old belief about a later day, today's belief about an old day, and a past that was corrected, before
// and after.
func ordinaryPoints(seed uint64) func() point {
	r := draws(seed)
	between := func(from, to int) time.Time { return day(from).Add(time.Duration(r.IntN((to-from)*24)) * time.Hour) }
	const first, last = 2, deepFrom
	return func() point {
		switch r.IntN(4) {
		case 0:
			at := between(first, last)
			return point{at, at}
		case 1:
			return point{between(changedOn, last), between(first, changedOn)}
		case 2:
			return point{between(first, changedAgainOn), day(last)}
		default:
			return point{between(correctedFrom, correctedTo), between(changedOn, changedAgainOn)}
		}
	}
}

// deepPoints is the same for the slot with many versions.
func deepPoints(seed uint64, versions int) func() point {
	r := draws(seed)
	at := func(from, to int) time.Time {
		return deepKnown(from + r.IntN(max(1, to-from))).Add(time.Second)
	}
	return func() point {
		some := 1 + r.IntN(versions-1)
		switch r.IntN(4) {
		case 0:
			t := at(0, versions)
			return point{t, t}
		case 1:
			return point{at(some, versions), at(0, some)}
		case 2:
			return point{at(0, versions), deepKnown(versions)}
		default: // half of the way back, where the corrections are
			return point{at(some/2, some/2+1), at(some, versions)}
		}
	}
}

// asOf is ValidAt().KnownAt().Get of slots and points at random.
func asOf(t *sgam.Tenant, next func() slot, where func() point) Side {
	return each(func(ctx context.Context) error {
		at, p := next(), where()
		_, err := t.ValidAt(p.valid).KnownAt(p.known).Get(ctx, at.subject, attributes[at.attribute])
		return err
	})
}

func asOfOrdinary(ctx context.Context, f *Files) (*Sides, error) {
	small, err := f.small(ctx)
	if err != nil {
		return nil, err
	}
	return asOfAgainstCurrent(ctx, small, small.slots, ordinaryPoints(2))
}

func asOfDeep(ctx context.Context, f *Files) (*Sides, error) {
	file, err := f.deep(ctx)
	if err != nil {
		return nil, err
	}
	only := func(uint64) func() slot { return func() slot { return slot{deepSubject, deepAttribute} } }
	return asOfAgainstCurrent(ctx, file, only, deepPoints(2, f.scale.Versions))
}

func asOfAgainstCurrent(ctx context.Context, f *file, slots func(uint64) func() slot, where func() point) (*Sides, error) {
	s := &Sides{}
	t, _, err := s.reading(ctx, f)
	if err != nil {
		return nil, s.after(err)
	}
	s.Baseline, s.Subject = current(t, slots(1)), asOf(t, slots(1), where)
	return s, nil
}

func getGrowth(ctx context.Context, f *Files) (*Sides, error) {
	small, large, err := f.both(ctx)
	if err != nil {
		return nil, err
	}
	return getBoth(ctx, small, large)
}

// getGrowthOfFew is what an agent sees that talks to some of very many customers.
func getGrowthOfFew(ctx context.Context, f *Files) (*Sides, error) {
	small, large, err := f.both(ctx)
	if err != nil {
		return nil, err
	}
	return getBoth(ctx, small.some(), large.some())
}

// getBoth holds reads of one file against those of another.
func getBoth(ctx context.Context, one, other *file) (*Sides, error) {
	s := &Sides{}
	t, _, err := s.reading(ctx, one)
	if err != nil {
		return nil, s.after(err)
	}
	s.Baseline = current(t, one.slots(1))
	if t, _, err = s.reading(ctx, other); err != nil {
		return nil, s.after(err)
	}
	s.Subject = current(t, other.slots(1))
	return s, nil
}
