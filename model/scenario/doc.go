// Package scenario has what is run, as data: which client calls which operations (workload), what
// goes wrong (faults), and the choices that turn both into one execution (schedule); and what came
// of it, step by step (trace). A scenario and its target decide an execution completely.
package scenario
