package engine

// These imports register all available backends with package sim.
import (
	_ "github.com/lockproof/lockproof/sim/amqp"
	_ "github.com/lockproof/lockproof/sim/amqp/consumption"
	_ "github.com/lockproof/lockproof/sim/consul"
	_ "github.com/lockproof/lockproof/sim/redis"
	_ "github.com/lockproof/lockproof/sim/sql"
)
