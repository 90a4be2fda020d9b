// Package scenario represents executions as data. The workload says which client calls which operations, the faults
// say what goes wrong, and the schedule has the choices that turn both into one execution. A trace is the resulting
// execution, step by step. A scenario and its target determine an execution completely.
//
// To add a fault, always add:
//
//	its kind                            action.go, and its row in README.md
//	its effect                          sim/fault.go, or sim/client.go if it strikes during a command
//	how often it is drawn               sim/generate.go
//	its bound and place in a search     sim/bounds.go, sim/system.go; that it is used up: sim/search/cycles.go
//	its words                           histories/draw/words.go, and cause.go there if it explains a violation
//	that tests reach it                 sim/coverage_point.go
//
// and for runs outside of the simulated world:
//
//	clients behind the gate             adapters/foreign: loop.go, faults.go, broker.go; drawn by sim/external.go
//	explorations of them                adapters/orders: options.go, label.go
//	replays on a real server            replay*.go in adapters/amqp/rabbitmq, adapters/redis, adapters/sql
//	the interactive explorer            adapters/explorer/enabled.go
package scenario
