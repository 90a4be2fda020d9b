// Command lockproof-servers is lockproof with drivers of databases, and with the code that starts servers in
// containers. Users need not start it themselves: `lockproof replay --on mariadb`, `lockproof compare` and `--on
// rabbitmq:4.1` start it. It is a separate program because lockproof then compiles in two thirds of the time.
package main

import (
	"github.com/lockproof/lockproof/adapters/container/docker"
	"github.com/lockproof/lockproof/cmd/lockproof/cli"
	"github.com/lockproof/lockproof/cmd/lockproof/servers/linked"
)

func main() { cli.Main(nil, linked.Finders, docker.Start) }
