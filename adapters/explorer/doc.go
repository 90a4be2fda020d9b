// Package explorer lets the reader of an HTML page step through one execution. It repeats the execution in the
// simulated world up to the reader's step. Then it lists what can happen next, and which properties are violated. The
// same code runs in the browser, compiled to WebAssembly ([wasm]), and in this package's tests.
//
// [wasm]: https://pkg.go.dev/github.com/lockproof/lockproof/cmd/lockproof/explorer/wasm
package explorer
