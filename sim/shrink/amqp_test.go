package shrink_test

// This import registers the AMQP backend, whose locks the tests use.
import _ "github.com/lockproof/lockproof/sim/amqp"
