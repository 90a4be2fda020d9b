// Package clustered has locks held on a real cluster while faults befall its machines, and judges what their clients saw.
//
//	cluster.go   the cluster
//	run.go       a run: several locks at once, under one sequence of faults
//	trial.go     one lock of it, with its clients and where they are
//	measure.go   for how long two held it, how the first was told, and what is left
//	table.go     designs, modes and faults, measured into a table
package clustered
