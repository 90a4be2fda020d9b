// Command lockproof-servers is lockproof with the drivers of servers other than RabbitMQ. A user need not type its
// name: lockproof replay --on redis and lockproof compare start it. It is a program of its own so that all else is
// compiled in two thirds of the time.
package main

import (
	"github.com/lockproof/lockproof/cmd/lockproof/cli"
	"github.com/lockproof/lockproof/cmd/lockproof/servers/linked"
)

func main() { cli.Main(nil, linked.Finders) }
