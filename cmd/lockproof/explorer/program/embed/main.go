// Command embed builds the explorer's program for browsers into the folder that releases embed: make explorer.
package main

import (
	"context"
	"log"

	"github.com/lockproof/lockproof/cmd/lockproof/explorer/program"
)

func main() {
	ctx := context.Background()
	p, err := program.Build(ctx)
	if err == nil {
		err = p.Write(ctx)
	}
	if err != nil {
		log.Fatal(err)
	}
}
