package draw

// This import registers the AMQP backend, whose locks are tested here.
import _ "github.com/lockproof/lockproof/sim/amqp"
