// Command embed builds the explorer for browsers into the folder that releases embed; `make explorer` runs it. It must
// run in the top folder of a clone.
package main

import (
	"context"
	"log"

	"github.com/lockproof/lockproof/cmd/lockproof/explorer/program"
)

func main() {
	const explorer = "cmd/lockproof/explorer"
	p, err := program.Build(context.Background(), explorer)
	if err == nil {
		err = p.Write(explorer)
	}
	if err != nil {
		log.Fatal(err)
	}
}
