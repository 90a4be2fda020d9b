// Command lockproof-campaign is lockproof with what runs campaigns. A user need not type its name: lockproof campaign
// starts it. It is a program of its own so that all else is compiled in half the time.
package main

import (
	"github.com/lockproof/lockproof/cmd/lockproof/campaign/queue"
	"github.com/lockproof/lockproof/cmd/lockproof/cli"
)

func main() { cli.Main(queue.Runner{}, nil, nil) }
