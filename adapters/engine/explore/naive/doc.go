// Package naive has no code but tests: a guard against false proofs. For each server it states the locks a second time, as
// plainly as they can be: a program counter and variables for each client, the server a struct, states in a map, visited
// breadth first. They were written from the published texts and from what was measured on real servers, and share nothing with
// the model that explore visits. On random configurations both must come to the same verdicts.
//
//	go test ./adapters/engine/explore/naive -run SQL -naive 200
package naive
