# shellcheck shell=bash
#
# The steps of a test run: each under its title, none hiding the next, all counted in one tally. Sourced by ./test and .ci/run
# after tools.sh; a script that calls another hands its tally down in SGAM_TALLY.

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
tally=${SGAM_TALLY:-$scratch/tally}
failed_steps=()
touch "$tally"

# step TITLE COMMAND…: runs a command that keeps the tally itself. One that fails without a failure in the tally, as when it
# was killed, counts as a failure too.
step() {
	local before
	before=$(failures)
	printf '\n== %s\n' "$1"
	"${@:2}" && return
	failed_steps+=("$1")
	[ "$(failures)" != "$before" ] || printf '0 1 0\n' >>"$tally"
}

failures() { awk '{ failed += $2 } END { print failed + 0 }' "$tally"; }

# check TITLE COMMAND…: runs a command that counts as one test.
check() {
	printf '\n== %s\n' "$1"
	if "${@:2}"; then
		printf '1 0 0\n' >>"$tally"
	else
		printf '0 1 0\n' >>"$tally"
		failed_steps+=("$1")
	fi
}

# go_test GO_TEST_FLAGS…: runs tests through testreport, which gets the flags in report_flags.
report_flags=()
go_test() {
	go test -json "$@" | "$scratch/testreport" -tally "$tally" ${report_flags[@]+"${report_flags[@]}"}
}

# total prints the closing line of the whole run.
total() {
	awk '{ passed += $1; failed += $2; skipped += $3 } END { printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped }' "$tally"
}

# verdict names the steps that failed and says whether there was none.
verdict() {
	[ ${#failed_steps[@]} -eq 0 ] || printf 'failed: %s\n' "${failed_steps[@]}"
	[ ${#failed_steps[@]} -eq 0 ]
}
