// Package scenario has what is run, as data: which client calls which operations (workload), what
// goes wrong (faults), and the choices that turn both into one execution (schedule); and what came
// of it, step by step (trace). A scenario and its target decide an execution completely.
//
// To add a fault, always:
//
//	its kind                            action.go, and its row in README.md
//	what it does                        sim/fault.go, or sim/client.go if it strikes during a command
//	how often it is drawn               sim/generate.go
//	its bound and place in a search     sim/bounds.go, sim/system.go; that it is used up: sim/search/cycles.go
//	its words                           histories/draw/words.go, and cause.go there where it explains a violation
//	that tests reach it                 sim/coverage_point.go
//
// and where it can happen to others than the simulated world:
//
//	clients behind the gate             adapters/external: loop.go, faults.go, broker.go; drawn by sim/external.go
//	explorations of them                adapters/orders: options.go, label.go
//	replays on a real server            replay*.go in adapters/rabbitmq, adapters/redis, adapters/databases
//	a reader of a page, who chooses     cmd/lockproof/explorer/enabled.go
package scenario
