package clientstress_test

import (
	"os"
	"testing"

	"github.com/lockproof/lockproof/internal/waittest"

	_ "github.com/lockproof/lockproof/sim/amqp" // the backend of the locks that are tested here
)

func TestMain(m *testing.M) { os.Exit(waittest.Run(m)) }
