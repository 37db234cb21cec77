package main

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/sgam-ledger/sgam"
)

// tale prints what the demo found.
func (w words) tale(t *tale) {
	w.indent = "     "
	w.s.println(w.s.paint(strong, "sgam demo"), w.s.paint(quiet, " · a ledger on disk: "+t.DB))
	w.taleOfPassport(t)
	w.taleOfReleases(t)
	w.chapter("3", "The ledger proves itself")
	if t.Verified {
		w.s.println("   ", w.s.paint(good, "verified"), ": every slot of both tenants is what its facts replay to")
	}
	for _, finding := range t.Findings {
		w.s.println("   ", w.s.paint(bad, finding))
	}
}

func (w words) chapter(number, title string) {
	w.s.println()
	w.s.println(w.s.paint(link, number), "  ", w.s.paint(strong, title))
	w.s.println()
}

// widestText is how long a line of prose gets, on the widest terminal too.
const widestText = 100

// says is a paragraph of the demo's own words.
func (w words) says(paragraph string) {
	w.s.println(wrapTo(min(w.s.width, widestText), "   ", paragraph))
	w.s.println()
}

// answers is a list of who answers and what.
func (w words) answers() *list {
	l := w.s.list(column{ink: quiet}, column{})
	l.bare, l.indent = true, "     "
	return l
}

func (w words) taleOfPassport(t *tale) {
	s := w.s
	w.chapter("1", "The stale passport")
	w.says("Two messages reach an assistant:")
	rows := s.list(column{ink: link}, column{ink: quiet}, column{})
	rows.bare, rows.indent = true, "   "
	for _, e := range miraEpisodes() {
		rows.add(e.ID, w.at(e.OccurredAt), "“"+e.Text+"”")
	}
	rows.flush()
	s.println()
	w.says("On 2026-06-20 somebody asks: “" + t.Question + "”")

	rows = w.answers()
	first, second := t.Search[0], t.Search[1]
	rows.add("a text search", fmt.Sprintf("“%s” %s", first.Episode.Text, s.paint(odd, "← stale")))
	rows.add("", s.paint(quiet, fmt.Sprintf("%s shares %d of the question's %d words, %s only %d",
		first.Episode.ID, first.Shared, first.Asked, second.Episode.ID, second.Shared)))
	rows.add("the ledger", s.paint(right, bareValue(&t.Current))+", said by "+t.Current.Episode+", true "+w.during(t.Current.Valid))
	rows.flush()
	s.println()
	w.says("What would the ledger have said on 2026-06-02?")
	rows = w.answers()
	rows.add("the ledger", s.paint(right, w.answered(t.AsOf))+": what was known then stays as it was")
	rows.flush()
}

// right is how the demo shows the ledger's answers.
var right = append(ink{}, append(strong, good...)...)

// answered is an answer in a sentence.
func (w words) answered(a answerJSON) string {
	if a.Fact == nil {
		return a.Reason
	}
	return bareValue(a.Fact) + ", said by " + a.Fact.Episode
}

// bareValue shows a text without the quotes of JSON.
func bareValue(f *sgam.Fact) string {
	var s string
	if json.Unmarshal(f.Value, &s) == nil {
		return printable(s)
	}
	return printable(string(f.Value))
}

func (w words) taleOfReleases(t *tale) {
	s := w.s
	w.chapter("2", "A deadline that really moved")
	w.says(fmt.Sprintf("endoflife.date keeps the end of life of software in a git repository. The ledger now holds %d of its statements "+
		"about %d release cycles, of five years, each recorded at the time of its commit there.", t.Loaded.Statements, t.Loaded.Subjects))

	w.says("When is the end of life of Drupal 7, when did we learn it, and who said so?")
	w.drawBeliefs(t.believed, t.lastKnown, "last commit")
	s.println()
	rows := w.answers()
	rows.add("as it stands", s.paint(right, bareValue(&t.EOL))+", said by commit "+t.EOL.Episode)
	rows.add("at the end of 2022", s.paint(right, bareValue(t.EOLThen.Fact))+", said by commit "+t.EOLThen.Fact.Episode)
	rows.flush()
	s.println()

	w.says("Is Drupal 7 maintained on 2024-06-01? That depends on when you ask:")
	for i, a := range t.Maintained {
		if i > 0 {
			s.println()
		}
		s.println("     known ", a.KnownAt.Format(time.DateOnly), ": ", s.paint(right, yesNo(a)), s.paint(quiet, ", because commit "+a.Fact.Episode+" said so"))
		w.drawStretches(t.timelines[i], a.ValidAt, "2024-06-01", day(2025, time.June, 1))
	}
}

func yesNo(a answerJSON) string {
	if a.Fact != nil && string(a.Fact.Value) == "true" {
		return "yes"
	}
	return "no"
}

// next names three commands to go on with.
func (w words) next(program string, t *tale) {
	db := t.DB
	if !t.Kept {
		db = "demo.db"
	}
	commands := []string{
		fmt.Sprintf("explain mira passport_deadline --db %s --tenant %s", db, demoAssistant),
		fmt.Sprintf("history %s eol_date --db %s --tenant %s", demoProduct, db, demoReleases),
	}
	if t.Kept {
		commands = append(commands, fmt.Sprintf("timeline %s maintained --db %s --tenant %s", demoProduct, db, demoReleases))
	} else {
		commands = append([]string{"demo --db " + db + w.s.paint(quiet, "   (this run's ledger is gone)")}, commands...)
	}
	w.s.println()
	w.s.println(w.s.paint(strong, "Try next"))
	for _, c := range commands {
		w.s.println("   ", program, " ", c)
	}
}
