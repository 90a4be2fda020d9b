package explorer

// The backends whose executions can be explored.
import _ "github.com/lockproof/lockproof/sim/amqp"
