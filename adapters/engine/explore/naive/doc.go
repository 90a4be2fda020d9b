// Package naive consists of tests only: a guard against false proofs. For each server it defines the locks a second time, as
// plainly as possible. Each client is a program counter and variables, and the server is a struct. States are in a map, and
// are visited breadth first. The models were written from the published texts and from measurements of real servers, and
// share nothing with the model of package explore. On random configurations both must have the same verdicts.
//
//	go test ./adapters/engine/explore/naive -run SQL -naive 200
package naive
