package main

import (
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// versionJSON is the answer of version.
type versionJSON struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Time     string `json:"revision_time,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func (p *program) version() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of this program",
		Args:  needs(),
		RunE: func(*cobra.Command, []string) error {
			v := buildVersion()
			if p.flags.json {
				p.out.json(v)
				return nil
			}
			revision := after(" ", v.Revision)
			p.out.println("sgam ", v.Version, revision, " (", v.Go, ", ", v.Platform, ")")
			return nil
		},
	}
}

// buildVersion is what the Go toolchain wrote into the program.
func buildVersion() versionJSON {
	v := versionJSON{Version: "unknown", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if info.Main.Version != "" {
		v.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Revision = s.Value
		case "vcs.time":
			v.Time = s.Value
		}
	}
	return v
}
