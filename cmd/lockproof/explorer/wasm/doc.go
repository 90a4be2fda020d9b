//go:build !(js && wasm)

// Command wasm is the explorer for browsers; it is built with GOOS=js GOARCH=wasm.
package main

func main() {}
