// Package waittest runs the tests of packages that mostly wait.
package waittest

import (
	"flag"
	"testing"
)

// atOnce is how many tests run at the same time: most of what they take is waiting, for servers, for other programs and
// for what clients may do by themselves.
const atOnce = "6"

// Run runs a package's tests, atOnce of them unless -parallel says otherwise, and returns their exit code.
func Run(m *testing.M) int {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		if err := flag.Set("test.parallel", atOnce); err != nil {
			panic(err)
		}
	}
	return m.Run()
}
