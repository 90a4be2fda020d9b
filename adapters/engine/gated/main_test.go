package gated_test

import (
	"os"
	"testing"

	"github.com/lockproof/lockproof/adapters/external/externaltest"
)

func TestMain(m *testing.M) { os.Exit(externaltest.Run(m)) }
