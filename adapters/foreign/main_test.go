package foreign_test

import (
	_ "github.com/lockproof/lockproof/sim/amqp"

	"os"
	"testing"

	"github.com/lockproof/lockproof/internal/waittest"
)

func TestMain(m *testing.M) { os.Exit(waittest.Run(m)) }
