package main

// plan says how one history is reduced.
type plan struct {
	name string
	// perAttribute makes the unit of choice one attribute of a subject, for histories whose subjects are too large to
	// take whole.
	perAttribute bool
	limits       limits
	// always is taken before anything is chosen.
	always []unit
	// copied are the files that travel along: the licence of the source.
	copied []file
	// variants says that the services of the history have variants, which travel along too.
	variants bool
}

// limits bounds a reduced history. No unit with more than largest facts is chosen, so that many small ones fit.
type limits struct{ facts, questions, largest int }

// file is copied from one name to another.
type file struct{ from, to string }

var licence = []file{{"LICENSE.txt", "LICENSE.txt"}}

var plans = []plan{
	{
		name:   "endoflife",
		limits: limits{facts: 4000, questions: 2000, largest: 100},
		always: demoCycles,
		copied: licence,
	},
	{
		name:   "tzdata",
		limits: limits{facts: 4000, questions: 2000, largest: 750},
		// A correction of forty-odd years that was taken back and then made again.
		always: []unit{{subject: "tz/Europe/Dublin"}},
		copied: licence,
	},
	{
		name:         "covid",
		perAttribute: true,
		limits:       limits{facts: 4000, questions: 2000, largest: 2500},
	},
	{
		name:         "climate",
		perAttribute: true,
		limits:       limits{facts: 4000, questions: 2000, largest: 2000},
		// The only integers among numbers.
		always: []unit{{subject: "co2/mauna_loa", attribute: "days_observed"}},
	},
	{
		name:         "gdp",
		perAttribute: true,
		limits:       limits{facts: 4000, questions: 2000, largest: 300},
	},
	{
		name:     "sgd",
		limits:   limits{facts: 4000, questions: 2000, largest: 100},
		copied:   licence,
		variants: true,
	},
}

// sequencedFiles are copied whole: each case is small and stands alone.
var sequencedFiles = []file{
	{"dev.bitempura.json", "bitempura.json"},
	{"dev.postgres.json", "postgres.json"},
	{"dev.xtdb.json", "xtdb.json"},
	{"LICENSE.bitempura.txt", "LICENSE.bitempura.txt"},
	{"LICENSE.postgres.txt", "LICENSE.postgres.txt"},
	{"LICENSE.xtdb.txt", "LICENSE.xtdb.txt"},
}

// demoCycles are well-known releases whose announced end of life moved at least once.
var demoCycles = []unit{
	{subject: "dotnet/9"},
	{subject: "drupal/7"},
	{subject: "firefox/115"},
	{subject: "go/1.19"},
	{subject: "java/17"},
	{subject: "opensuse/15.6"},
	{subject: "php/8.1"},
	{subject: "python/3.8"},
	{subject: "ruby/3.1"},
	{subject: "ubuntu/18.04"},
}
