package mutant_test

// This import registers the backend of the tested locks.
import _ "github.com/lockproof/lockproof/sim/amqp"
