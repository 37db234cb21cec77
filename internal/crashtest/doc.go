// Package crashtest holds the embedded engine against what kills programs and breaks disks: death at every system call that
// leaves something behind, failing writes and syncs, a limit on the size of files, many processes at once and clocks that
// disagree. Its tests start the test binary itself as the processes that die.
package crashtest
