package anynumber

// This import registers the AMQP backend, whose locks the tests search.
import _ "github.com/lockproof/lockproof/sim/amqp"
