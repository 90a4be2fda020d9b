package explorer

// This import registers the backend whose executions can be explored.
import _ "github.com/lockproof/lockproof/sim/amqp"
