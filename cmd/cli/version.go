package cli

import (
	_ "embed"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// notices are the licences of what the binary links: a copy of the file of the same
// name at the top of the module, made by go run ./cmd/notices.
//
//go:embed THIRD_PARTY_NOTICES
var notices string

const (
	// module is the path of the module of this package.
	module = "herdlab"
	// fallbackVersion is the version of a program that was built without module
	// information, or from a working tree.
	fallbackVersion = "v0.1.0-dev"
)

// toolVersion returns the version of herdlab that the program contains. In a program
// of another module, herdlab is one of the dependencies.
func toolVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return fallbackVersion
	}
	version := ""
	for _, m := range append(info.Deps, &info.Main) {
		if m.Path != module {
			continue
		}
		if version = m.Version; m.Replace != nil {
			version = m.Replace.Version
		}
	}
	if version == "" || version == "(devel)" {
		return fallbackVersion
	}
	return version
}

func (c *console) version() *cobra.Command {
	var licences bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version, or the licences of the software in the binary",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if licences {
				return c.print(notices)
			}
			return c.print(fmt.Sprintf("herdlab %s %s %s/%s\n", toolVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH))
		},
	}
	cmd.Flags().BoolVar(&licences, "licences", false, "print the licences of all software that the binary contains")
	return cmd
}
