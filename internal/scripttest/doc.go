// Package scripttest tests the shell scripts that a newcomer runs first, on machines that lack this or that. The machines are
// make-believe: a test replaces the shell functions that look at the real one.
package scripttest
