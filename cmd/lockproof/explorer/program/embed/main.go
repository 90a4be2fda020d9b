// Command embed builds the explorer's program for browsers into the folder that releases embed: make explorer.
package main

import (
	"context"
	"log"

	"github.com/lockproof/lockproof/cmd/lockproof/explorer/program"
)

func main() {
	p, err := program.Build(context.Background())
	if err == nil {
		err = p.Write()
	}
	if err != nil {
		log.Fatal(err)
	}
}
