package rabbitmq

// The backend of the locks that are tested here.
import _ "github.com/lockproof/lockproof/sim/amqp"
