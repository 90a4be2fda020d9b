// Command lockproof-campaign is lockproof with the code that runs campaigns. Users need not start it themselves:
// `lockproof campaign` starts it. It is a separate program because lockproof then compiles in half the time.
package main

import (
	"github.com/lockproof/lockproof/cmd/lockproof/campaign/queue"
	"github.com/lockproof/lockproof/cmd/lockproof/cli"
)

func main() { cli.Main(queue.Runner{}, nil, nil) }
