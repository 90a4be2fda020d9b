// Package scenario has executions as data: the workload is which client calls which operations, the faults go wrong,
// and the schedule has the choices that turn both into one execution. A trace is the result, step by step. A scenario
// and its target decide an execution completely.
//
// To add a fault, always:
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
//	a reader of a page who chooses      adapters/explorer/enabled.go
package scenario
