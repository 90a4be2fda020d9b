package sim_test

// This import registers the AMQP backend, whose locks the tests simulate.
import _ "github.com/lockproof/lockproof/sim/amqp"
