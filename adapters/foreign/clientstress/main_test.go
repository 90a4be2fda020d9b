package clientstress_test

import (
	"os"
	"testing"

	"github.com/lockproof/lockproof/internal/waittest"

	_ "github.com/lockproof/lockproof/sim/amqp" // registers AMQP, the backend of the tested locks
)

func TestMain(m *testing.M) { os.Exit(waittest.Run(m)) }
