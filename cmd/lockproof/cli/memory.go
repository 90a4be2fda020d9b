package cli

import (
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// mostMemory is the default maximum memory of a search, in MiB.
const mostMemory = 8192

// overhead is the memory that the program needs besides a search, in MiB.
const overhead = 256

// searchMemory returns the memory for a search, in MiB. system is the memory that the process may have, in bytes. Half
// of it is reserved for garbage and for tables that grow.
func searchMemory(system int64) int {
	return int(max(1, min(mostMemory, (system>>20-overhead)/2)))
}

// fitMemory limits the memory of a search, so that it ends and writes its checkpoint before the system kills the
// process.
func (f *exploreFlags) fitMemory(c *cobra.Command, system int64) error {
	fits := searchMemory(system)
	if !c.Flags().Changed("memory") {
		f.memory = fits
		if fits < mostMemory {
			tell(fmt.Sprintf("the search ends at about %d MiB, since this process may have %d MiB; --memory says otherwise", fits, system>>20))
		}
	} else if int64(f.memory) > system>>20 {
		return fmt.Errorf("--memory %d: expected at most %d, the MiB that this process may have by the machine, ulimit -v or its container", f.memory, system>>20)
	}
	debug.SetMemoryLimit(system / 8 * 7)
	return nil
}
