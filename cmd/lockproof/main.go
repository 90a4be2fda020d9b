// Command lockproof decides whether a distributed lock is correct and cheap. If it is not, lockproof shows the shortest
// execution found that proves it.
package main

import (
	"github.com/lockproof/lockproof/cmd/lockproof/cli"
	"github.com/lockproof/lockproof/cmd/lockproof/servers"
)

func main() { cli.Main(nil, servers.Own, nil) }
