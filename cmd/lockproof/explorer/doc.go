// Package explorer is what stands behind the explorer of pages: an execution carried out again in the simulated world as
// far as somebody walks it, what can happen next, and what is judged of it. The same code runs in the browser, compiled to
// WebAssembly ([wasm]), and here, where it is tested.
//
// [wasm]: https://pkg.go.dev/github.com/lockproof/lockproof/cmd/lockproof/explorer/wasm
package explorer
