// Package explorer lets a reader of a page step through one execution. It carries the execution out again in the
// simulated world, as far as the reader goes, and says what can happen next and what is judged of it. The same code
// runs in the browser, compiled to WebAssembly ([wasm]), and here, where it is tested.
//
// [wasm]: https://pkg.go.dev/github.com/lockproof/lockproof/cmd/lockproof/explorer/wasm
package explorer
