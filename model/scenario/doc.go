// Package scenario has what is run, as data: which client calls which operations (workload), what
// goes wrong (faults), and the choices that turn both into one execution (schedule); and what came
// of it, step by step (trace). A scenario and its target decide an execution completely.
//
// To add a fault: its kind in action.go; what it does in sim/fault.go, or sim/client.go if it strikes during a command; how
// often it is drawn in sim/generate.go; its bound, and where a search has it happen, in sim/bounds.go and sim/system.go,
// and that it is used up in sim/search/cycles.go; behind the gate loop.go, faults.go and broker.go in adapters/external, where
// it is drawn by sim/external.go, and for explorations explore_options.go and label.go there; on real servers replay*.go in
// adapters/rabbitmq, redis and databases; its words in histories/draw (words.go, and cause.go where it explains a violation);
// where a reader of a page can choose it, cmd/lockproof/explorer/enabled.go; its row in README.md here. What tests reach is
// counted in sim/coverage_point.go.
package scenario
