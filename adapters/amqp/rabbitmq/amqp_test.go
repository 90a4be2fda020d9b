package rabbitmq

// registers the AMQP backend for the locks that the tests use
import _ "github.com/lockproof/lockproof/sim/amqp"
