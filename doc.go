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

// Where is what, for whoever changes lockproof. Each folder's doc.go goes on from here. Of each kind of server:
//
//	                           the locks              targets.go, options.go     the simulated server   joined
//	amqp                       model/amqp/amqplock    model/amqp/amqplock        sim/broker             sim/amqp
//	consumption                model/amqp/consumption model/amqp/consumption     sim/broker             sim/consumption
//	consul                     model/consul           sim/consul, model/consul   model/consul           sim/consul
//	redis                      model/redis            sim/redis, model/redis     model/redis            sim/redis
//	mariadb, postgres          sim/sql                sim/sql                    sim/rowstore           sim/sql
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
//	that a client gave up      the lock's machine: acquire.go and admin.go in model/amqp/amqplock, admin.go in
//	                           model/amqp/consumption, acquire.go in model/consul, model/redis/steal.go,
//	                           sim/sql/machine.go; for clients that are not ours adapters/external/watch.go, which
//	                           judge.go there may take back. Who judges whether that was allowed:
//	                           model/monitor/monitor_end.go, or, by the history alone, model/beliefs/judge.go
//	that a property is broken  model/monitor, model/linear, model/beliefs and model/own; model/judge composes them, and lists
//	                           who decides what
//	what happens next          model/scenario/plan.go, in an order that sim/generate.go draws; sim/fault.go carries it out, and
//	                           behind the gate adapters/external/loop.go
//	that a waiting command     in databases sim/rowstore/gap.go, in Consul model/consul/server.go, at a broker sim/broker
//	goes on
//	that a command waits       at the gate: adapters/wire/gate.go is what a gate is, adapters/external/gate.go the one that a
//	                           schedule opens, and loop.go there (settle) says when: once every client is at rest
//	which steps are            in a search sim/search/reductions.go (unnoticed), by the footprints of commands in
//	independent                sim/footprint.go; behind the gate adapters/orders/label.go (depend)
//	that any number of clients sim/search/anynumber
//	is right
//	how executions get short   sim/shrink/minimise.go; a search finds a shortest, sim/search/counterexample.go
//	what is reported           adapters/engine: whole runs. Stress is adapters/stress, of clients that are not ours
//	                           adapters/external/clientstress; its report, adapters/engine/recorded. How a report looks:
//	                           histories/report (card.go, html.go). The exit code: cmd/lockproof/cli/exit.go
//
// Where to add:
//
//	a property                 model/property/doc.go has the steps
//	a fault                    model/scenario/doc.go has the steps
//	a backend                  sim/README.md has the steps, sim/doc.go what a real server of that kind needs
//	a mutant                   model/amqp/mutant; model/amqp/consumption/mutants.go; else sim/*/targets.go
//	an option of a lock        in options.go of its backend, a field of Options and its row in Table. Flags and files have it
//	                           then. To have random runs vary it: sim/amqp/options.go, else sim/*/targets.go; those of
//	                           locks by consumption are not varied
//	an option of a run         options.go and run.go in this folder, and a flag in the file of its command in cmd/lockproof/cli
//	an open question           sim/*/questions.go, in the form of sim/question; adapters/engine/atlas answers it
//	a command                  a file in cmd/lockproof/cli, and the list in main.go there
//	a call of the protocol     adapters/subprocess/protocol.go, which adapter-check uses as well
