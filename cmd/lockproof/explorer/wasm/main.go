//go:build js && wasm

// Command wasm is the explorer for browsers. It defines the function lockproofExplore for the page. The function takes
// a request and returns the response, both as JSON.
package main

import (
	"syscall/js"

	"github.com/lockproof/lockproof/adapters/explorer"
	"github.com/lockproof/lockproof/model/lock"
)

func main() {
	js.Global().Set("lockproofExplore", js.FuncOf(func(_ js.Value, args []js.Value) any {
		return string(explorer.World{Named: lock.TargetNamed}.Explore([]byte(args[0].String())))
	}))
	if ready := js.Global().Get("lockproofReady"); ready.Type() == js.TypeFunction {
		ready.Invoke()
	}
	select {}
}
