// Package lockproof decides whether a distributed lock or semaphore is correct and cheap, and shows the shortest
// execution found in which it is not.
//
// [Prove] draws executions from a seed, runs them and judges each: a sample. [Explore] visits every execution within bounds,
// so that what it finds holding is proved. [Stress] has many clients use a real server at once. [Replay] carries out
// a counterexample again. [Check] judges a recorded history. [Test] is Prove inside go test. [Always] and
// [Sometimes] are properties, and [Protocol] a lock, of a user's.
//
// A [Target] says whose lock it is, [Options] on which server it is judged and how thoroughly. By default, that is
// the reference semaphore on the simulated broker. An error is for a run that could not be made; what is violated
// stands in the [Result]. The packages below this one may change with any version.
package lockproof

// Where is what, for whoever changes lockproof. Each folder's doc.go goes on from here. A backend's machines are in model,
// its server and its targets in sim: amqp, consumption, consul, redis, sql.
//
// What things mean:
//
//	which queue means what     model/amqp/amqplock: layout.go has a lock's queues and their names, queue_role.go what one is for.
//	                           In a run sim/amqp/plan.go; for other people's locks adapters/external/name_table.go,
//	                           by what adapters/external/recognise has told of them
//	how a client is numbered   in a history, by its sessions: model/history/process.go. Elsewhere clients count from 1
//	what a command was         model/backend: what it did, without what its backend alone knows (Exchange)
//	what a lock is             model/lock: operations, outcomes, reasons, and what not every lock has
//	what real servers do       sim/FACTS.md, with the test that measures each fact
//	what files say             histories: counterexample.go, jsonl.go; reports: histories/report
//
// Who decides:
//
//	that a client gave up      the lock's machine: acquire.go in model/amqp/amqplock and model/consul, model/redis/steal.go,
//	                           sim/sql/machine.go; for clients that are not ours adapters/external/watch.go. Who judges
//	                           whether that was allowed: model/monitor/monitor_end.go
//	that a property is broken  model/monitor, model/linear and model/own; model/judge composes them, and lists who decides what
//	what happens next          model/scenario/plan.go, in an order that sim/generate.go draws; sim/fault.go carries it out, and
//	                           behind the gate adapters/external/loop.go
//	that a waiting command     in databases sim/rowstore/gap.go, in Consul model/consul/server.go, at a broker sim/broker
//	goes on
//	that the gate may go on    adapters/external/loop.go (settle), when every client is at rest
//	which steps are            in a search sim/search/reductions.go (unnoticed), by the footprints of commands in
//	independent                sim/footprint.go; behind the gate adapters/external/label.go (depend)
//	how executions get short   sim/shrink/minimise.go; a search finds a shortest, sim/search/counterexample.go
//	what is reported           adapters/engine: whole runs. The exit code: cmd/lockproof/cli/exit.go
//
// Where to add:
//
//	a property                 model/property/doc.go has the steps
//	a fault                    model/scenario/doc.go has the steps
//	a backend                  sim/README.md has the steps
//	a mutant                   model/amqp/mutant; model/amqp/consumption/mutants.go; else sim/*/targets.go
//	an option of a lock        a field, and its row in its backend's table: options.go in model/amqp/amqplock,
//	                           model/amqp/consumption, model/consul, model/redis or sim/sql. Flags and files have it
//	                           then. To have random runs vary it: sim/amqp/options.go, else sim/*/targets.go
//	an option of a run         options.go in this folder, and a flag in cmd/lockproof/cli
//	an open question           sim/*/questions.go, in the form of sim/question; adapters/engine/atlas answers it
//	a command                  a file in cmd/lockproof/cli, and the list in its main.go
//	a call of the protocol     adapters/subprocess/protocol.go, which adapter-check uses as well
