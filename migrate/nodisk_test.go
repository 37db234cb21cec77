//go:build !cgo

package migrate_test

func onDisk() []engine { return nil }
