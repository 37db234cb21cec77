//go:build cgo

package sqlite

import (
	"fmt"

	"github.com/sgam-ledger/sgam/internal/points"
)

// countPoints moves the counts of assertion points. A point that counts nothing goes.
func (w *writer) countPoints() error {
	for _, x := range w.change.Points {
		at, err := w.slot(x.Slot)
		if err != nil {
			return err
		}
		if x.Delta > 0 {
			if err := w.exec(stCountPoint, w.tenant, at.id, x.Number, int64(x.At), x.Delta, flag(x.Live)); err != nil {
				return err
			}
			continue
		}
		p, err := w.one(stUncountPoint, w.tenant, at.id, x.Number, int64(x.At), x.Delta, flag(x.Live))
		if err != nil {
			return err
		}
		if p == nil {
			return fmt.Errorf("sgam: sqlite: there is no point at %s", x.At)
		}
		if p.int(0) > 0 {
			continue
		}
		if err := w.exec(stDropPoint, w.tenant, at.id, x.Number, int64(x.At)); err != nil {
			return err
		}
	}
	return nil
}

// turnPoints makes the points of each region live whose number is believed there now, and the others dead.
func (w *writer) turnPoints() error {
	for _, x := range points.Turned(w.snapshot, w.change) {
		at, err := w.slot(x.Slot)
		if err != nil {
			return err
		}
		from, to := int64(x.Valid.From), int64(x.Valid.To)
		if err := w.exec(stKillPoints, w.tenant, at.id, from, to, x.Number); err != nil {
			return err
		}
		if x.Number < 0 {
			continue
		}
		if err := w.exec(stRaisePoints, w.tenant, at.id, from, to, x.Number); err != nil {
			return err
		}
	}
	return nil
}
