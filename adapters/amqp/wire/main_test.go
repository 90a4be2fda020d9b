package wire_test

import (
	"os"
	"testing"

	"github.com/lockproof/lockproof/internal/waittest"
)

func TestMain(m *testing.M) { os.Exit(waittest.Run(m)) }
