//go:build !cgo || !unix

package migrate_test

func runChild() bool { return false }
