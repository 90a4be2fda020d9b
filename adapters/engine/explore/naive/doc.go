// Package naive has no code but tests: a guard against false proofs. For each server it states the locks a second time, as
// plainly as possible. Each client is a program counter and variables, and the server a struct. States are in a map,
// visited breadth first. The models were written from the published texts and from measurements of real servers. They share
// nothing with the model of explore. On random configurations both must have the same verdicts.
//
//	go test ./adapters/engine/explore/naive -run SQL -naive 200
package naive
