package migrate_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam/internal/histories"
	"github.com/sgam-ledger/sgam/migrate"
)

// The variants of a service are the real renames of a published data set: what five other designers called the same slots
// and intents. Each becomes a version of the service's memory type.
const (
	variantMoves = 225  // 45 services, five variants of each
	renamedSlots = 1825 // by the data set's own count
	variantSeed  = 11

	recordedAnswers = 2000 // at least
)

func TestTheRealRenamesAreAllThere(t *testing.T) {
	services := theServices(t, variantSeed)
	require.Len(t, moves(services, variantSeed), variantMoves)
	require.Equal(t, renamedSlots, renamed(services))
}

func TestG23RealRenamesLoseNothingAndChangeNoAnswer(t *testing.T) {
	for _, e := range append([]engine{inMemory}, onDisk()...) {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			const oneIn = 4 // so that most services have somebody who writes meanwhile
			talk := theDialogues(t, "../testdata/sgd/facts.jsonl.gz", "../testdata/sgd/questions.jsonl.gz", oneIn)
			services := theServices(t, variantSeed)
			if os.Getenv("SGAM_ALL") == "" {
				// Those that most is said to, and one of those that nobody speaks to.
				some := []string{"Payment_1", "Buses_1", "Banks_1", "Events_3", "Alarm_1"}
				services = slices.DeleteFunc(services, func(s *service) bool { return !slices.Contains(some, s.Service) })
			}
			for _, s := range services {
				if len(talk.questions[s.Service]) == 0 {
					talk.mention(t, s, oneIn)
				}
			}
			talk.only(services...)
			migratesEverything(t, e, services, talk, 1, 29)
		})
	}
}

func TestG23RealRenamesOfAllDialogues(t *testing.T) {
	root := histories.Folder(t)
	for _, e := range append([]engine{inMemory}, onDisk()...) {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			talk := theDialogues(t, filepath.Join(root, "sgd", "dev.facts.jsonl.gz"), filepath.Join(root, "sgd", "dev.questions.jsonl.gz"), 10)
			migratesEverything(t, e, theServices(t, variantSeed), talk, 45, 500)
		})
	}
}

func migratesEverything(t *testing.T, e engine, services []*service, talk *dialogues, tenants uint32, stride int) {
	t.Helper()
	f := newFleet(t, e, services, talk, tenants)
	j := newJudge(f, services, stride)
	all := moves(services, variantSeed)
	for _, m := range all {
		j.keep(m.Service, recordedAnswers/len(all)+1)
		j.move(m)
		j.oldReaders(m.Service, m.from)
		j.everyReader(m.Service, m.from)
		j.compare(m.Service)
		f.end(m)
	}
	require.GreaterOrEqual(t, len(j.kept), recordedAnswers)
	for _, s := range services {
		j.oldReaders(s.Service, s.newest())
		j.everyReader(s.Service, s.newest())
		j.compare(s.Service)
	}
	appended := j.encodings()
	require.Empty(t, j.wrong, "%d wrong answers, %d right ones", j.misses, j.right)

	done, converted := 0, int64(0)
	stands, err := migrate.Status(t.Context(), f.Ledger)
	require.NoError(t, err)
	for _, s := range stands {
		require.Equal(t, migrate.Done, s.State)
		done++
		converted += s.Counts.Converted
	}
	require.Len(t, all, done)
	require.Positive(t, f.twice)
	for window, turns := range f.turns {
		require.Positive(t, turns[0], "turns of old writers in window %d", window)
		require.Positive(t, turns[1], "turns of new writers in window %d", window)
	}
	require.Equal(t, appended, converted+f.twice, "one form for each value that a run found, and one for each that came meanwhile")
	t.Logf("%d migrations, %d values and %d written meanwhile, %d forms, %d answers", done, sum(f.values)-f.meanwhile, f.meanwhile, appended, j.right)
}

// move carries a migration out to its cut-over.
func (j *judge) move(m move) {
	j.cuts[m.Service] = append(j.cuts[m.Service], j.till(m, true))
	j.read[m.Service]++
}

func sum(counts map[string]int64) (total int64) {
	for _, n := range counts {
		total += n
	}
	return total
}

// oneService is a small part of it all, of which a part can be broken.
func oneService(t *testing.T, breaks func(declared *service)) (*judge, *service) {
	t.Helper()
	talk := theDialogues(t, "../testdata/sgd/facts.jsonl.gz", "../testdata/sgd/questions.jsonl.gz", 4)
	pick := func() []*service {
		all := theServices(t, variantSeed+1)
		return slices.DeleteFunc(all, func(s *service) bool { return s.Service != "Banks_1" })
	}
	declared, known := pick(), pick()
	talk.only(declared...)
	breaks(declared[0])
	return newJudge(newFleet(t, inMemory, declared, talk, 1), known, 1), declared[0]
}

func TestTheJudgeOfRealRenamesSeesWhatIsWrong(t *testing.T) {
	t.Run("nothing", func(t *testing.T) {
		j, s := oneService(t, func(*service) {})
		j.move(move{s, 1})
		j.oldReaders(s.Service, 1)
		j.everyReader(s.Service, 1)
		require.Zero(t, j.misses, j.wrong)
		require.Positive(t, j.right)
	})
	t.Run("a lens that puts the value under another name", func(t *testing.T) {
		j, s := oneService(t, func(declared *service) {
			slots := slices.Clone(declared.Variants[0].Slots)
			slots[0] += "_typo"
			declared.Variants[0].Slots = slots
		})
		j.move(move{s, 1})
		j.oldReaders(s.Service, 1)
		require.Zero(t, j.misses, "the first version is read as it was")
		j.everyReader(s.Service, 1)
		require.Positive(t, j.misses)
	})
	t.Run("a cut-over that was left out", func(t *testing.T) {
		j, s := oneService(t, func(*service) {})
		j.cuts[s.Service] = []time.Time{j.till(move{s, 1}, false)}
		j.read[s.Service] = 2
		j.everyReader(s.Service, 1)
		require.Positive(t, j.misses)
	})
	t.Run("an answer about the past that is another now", func(t *testing.T) {
		j, s := oneService(t, func(*service) {})
		j.keep(s.Service, 100)
		j.compare(s.Service)
		require.Zero(t, j.misses, j.wrong)
		for i := range j.kept {
			j.kept[i].known = j.clock.Now().AddDate(1, 0, 0)
		}
		j.move(move{s, 1})
		j.compare(s.Service)
		require.Positive(t, j.misses)
	})
	t.Run("forms that were never made", func(t *testing.T) {
		j, s := oneService(t, func(*service) {})
		j.move(move{s, 1})
		j.encodings()
		require.Positive(t, j.misses, "four migrations are still to come")
	})
}
