package gated_test

import (
	"os"
	"testing"

	"github.com/lockproof/lockproof/internal/waittest"
)

func TestMain(m *testing.M) { os.Exit(waittest.Run(m)) }

// inShort returns the number of executions to run: n, or with -short a third of n.
func inShort(n int) int {
	if testing.Short() {
		return n / 3
	}
	return n
}
