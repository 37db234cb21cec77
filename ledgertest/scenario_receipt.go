package ledgertest

import (
	"cmp"
	"errors"
	"strconv"

	"github.com/sgam-ledger/sgam"
)

// refused compares the error of a call with what was expected. An error that no scenario can name ends the run.
func (r *run) refused(line int, asked string, want row, err error) error {
	text, named := textOfError(err)
	if _, bad := errors.AsType[unusable](err); bad || !named {
		return err
	}
	if want == nil {
		want = row{"outcome": "a decision"}
	}
	r.expect(line, asked, want, row{"outcome": text})
	return nil
}

// received compares a receipt. Without an expectation the statement must have been applied or confirmed.
func (r *run) received(it *item, receipt sgam.Receipt, err error) error {
	if err != nil {
		return r.refused(it.line, it.text, it.want, err)
	}
	if it.label != "" {
		r.label(it.label, receipt.Memory)
	}
	want := it.want
	if want == nil {
		want = row{"outcome": string(sgam.Applied)}
		if receipt.Outcome == sgam.Confirmed {
			want["outcome"] = string(sgam.Confirmed)
		}
	}
	r.expect(it.line, it.text, want, r.receipt(receipt))
	return nil
}

// receipt writes a receipt as a row.
func (r *run) receipt(x sgam.Receipt) row {
	names := func(ids []sgam.MemoryID) string {
		var out []string
		for _, id := range ids {
			out = append(out, r.name(id))
		}
		return joined(out)
	}
	out := row{
		"outcome": string(x.Outcome), "by": r.name(x.Memory), "supersedes": r.name(x.Supersedes), "confirms": names(x.Confirms),
		"parts": strconv.Itoa(len(x.Parts)), "lost": names(x.LostTo), "withdrawn": names(x.Withdrawn),
		"declines": names(x.DeclinedPending), "disputes": names(x.StillDisputed), "principal": x.Principal,
		"clipped": "nothing", "displaces": r.displacements(x.Displaced), "recorded": textOf(x.Known),
	}
	if x.Code != "" {
		out["code"] = x.Code
	}
	if x.Earlier != "" {
		out["of"] = string(x.Earlier)
	}
	if x.Reach != nil {
		out["reach"] = textOfInterval(*x.Reach)
	}
	if x.Clipped != nil {
		out["clipped"] = textOfInterval(*x.Clipped)
	}
	if x.Assumed {
		out["assumed"] = "yes"
	}
	if len(x.Faults) > 0 {
		out["at"] = cmp.Or(x.Faults[0].Field, "nothing")
	}
	return out
}

func (r *run) displacements(list []sgam.Displacement) string {
	var out []string
	for _, d := range list {
		out = append(out, r.name(d.Memory)+" "+string(d.How)+" "+textOfInterval(d.Valid))
	}
	return joined(out)
}
