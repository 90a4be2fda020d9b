// Package waittest runs the tests of packages that mostly wait.
package waittest

import (
	"flag"
	"testing"
)

// How many tests run at the same time: most of what they take is waiting, for servers, for other programs and for what
// clients may do by themselves. Short ones hardly start programs, and wait the more.
const (
	atOnce      = "6"
	shortAtOnce = "10"
)

// Run runs a package's tests, so many at once unless -parallel says otherwise, and returns their exit code.
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
