// Command lockproof-servers is lockproof with the drivers of databases, and with what starts servers in
// containers. A user need not type its name: lockproof replay --on mariadb, lockproof compare and --on rabbitmq:4.1 start
// it. It is a program of its own so that all else is compiled in two thirds of the time.
package main

import (
	"github.com/lockproof/lockproof/adapters/container/docker"
	"github.com/lockproof/lockproof/cmd/lockproof/cli"
	"github.com/lockproof/lockproof/cmd/lockproof/servers/linked"
)

func main() { cli.Main(nil, linked.Finders, docker.Start) }
