// Command lockproof decides whether a distributed lock is correct and cheap, and shows the shortest
// execution found in which it is not.
package main

import (
	"github.com/lockproof/lockproof/cmd/lockproof/cli"
	"github.com/lockproof/lockproof/cmd/lockproof/servers"
)

func main() { cli.Main(nil, servers.Own, nil) }
