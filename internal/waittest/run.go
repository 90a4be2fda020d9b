// Package waittest runs tests in parallel in packages whose tests mostly wait.
package waittest

import (
	"flag"
	"testing"
)

// The number of tests that run at the same time. Most tests mainly wait for servers and other programs. With -short
// more run at once, since short tests start few programs.
const (
	atOnce      = "6"
	shortAtOnce = "10"
)

// Run runs a package's tests, several at once unless -parallel is given, and returns the exit code.
func Run(m *testing.M) int {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		parallel := atOnce
		if testing.Short() {
			parallel = shortAtOnce
		}
		if err := flag.Set("test.parallel", parallel); err != nil {
			panic(err)
		}
	}
	return m.Run()
}
