package search

// The backends of the locks that are tested here.
import (
	_ "github.com/lockproof/lockproof/sim/amqp"
	_ "github.com/lockproof/lockproof/sim/consul"
	_ "github.com/lockproof/lockproof/sim/redis"
	_ "github.com/lockproof/lockproof/sim/sql"
)
