package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// fallbackVersion is said by a program that was built without module
// information, or from a working tree.
const fallbackVersion = "v0.1.0-dev"

// toolVersion is the version of the module that the program was built from.
func toolVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return fallbackVersion
	}
	return info.Main.Version
}

func (c *console) version() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return c.print(fmt.Sprintf("herdlab %s %s %s/%s\n", toolVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH))
		},
	}
}
