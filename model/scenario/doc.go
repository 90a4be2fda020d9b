// Package scenario describes executions as data. A scenario consists of a workload, faults and a schedule. The workload
// says which client calls which operations. The schedule has the choices that make one execution of them. A trace is
// that execution, step by step. A scenario and its target determine an execution completely.
//
// To add a fault, always add:
//
//	its kind                            action.go, and its row in README.md
//	its effect                          sim/fault.go, or sim/client.go if it strikes during a command
//	its probability                     sim/generate.go
//	its bound and place in a search     sim/bounds.go, sim/system.go; when it is used up: sim/search/cycles.go
//	its description                     histories/draw/words.go, and cause.go there if it explains a violation
//	a check that tests reach it         sim/coverage_point.go
//
// and for runs outside of the simulated world:
//
//	clients behind the gate             adapters/foreign: loop.go, faults.go, server.go; drawn by sim/external.go
//	explorations of them                adapters/orders: options.go, label.go
//	replays on a real server            replay*.go in adapters/amqp/rabbitmq, adapters/redis, adapters/sql
//	choices on an explorer page         adapters/explorer/enabled.go
package scenario
