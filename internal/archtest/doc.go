// Package archtest holds the tests that keep the shape of the module: which room may import which, how large the root may
// grow, who may read the clock, where SQL lives, and what a program that uses the library has to download.
//
// Each rule is a function over parsed source, and is shown to find a breach in a small sample before it is believed about the
// real tree.
package archtest
