package engine

// The available backends: importing a backend registers it with package sim.
import (
	_ "github.com/lockproof/lockproof/sim/amqp"
	_ "github.com/lockproof/lockproof/sim/amqp/consumption"
	_ "github.com/lockproof/lockproof/sim/consul"
	_ "github.com/lockproof/lockproof/sim/redis"
	_ "github.com/lockproof/lockproof/sim/sql"
)
