// Package naive consists of tests only: they guard against false proofs. For each server, the package models the locks
// a second time, as plainly as possible. Each client is a program counter and variables, and the server is a struct.
// States are kept in a map, and visited breadth first. The models were written from the published texts and from
// measurements of real servers, and share nothing with the model of package explore. On random configurations both
// models must give the same verdicts.
//
//	go test ./adapters/engine/explore/naive -run SQL -naive 200
package naive
