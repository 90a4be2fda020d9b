package gated_test

import (
	"os"
	"testing"

	"github.com/lockproof/lockproof/internal/waittest"
)

func TestMain(m *testing.M) { os.Exit(waittest.Run(m)) }

// inShort is how many of n executions are run: with -short a third of them.
func inShort(n int) int {
	if testing.Short() {
		return n / 3
	}
	return n
}
