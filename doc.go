// Package lockproof decides whether a distributed lock or semaphore is correct and cheap, and shows the shortest
// execution found in which it is not.
//
// [Prove] draws executions from a seed, runs them and judges each: a sample. [Explore] visits every execution within
// bounds, so that the properties that hold are proved. [Stress] lets many clients use a real server at once. [Replay]
// repeats a counterexample. [Check] judges a recorded history. [Test] is Prove inside go test. [Always] and [Sometimes]
// make custom properties, and [Protocol] a custom lock.
//
// A [Target] is the lock to judge. [Options] name the server and the properties. [Sample], [Bounds] and [Load] say how
// thoroughly Prove, Explore and Stress judge. The default is the reference semaphore on the simulated broker. Functions
// return an error if a run could not be made; violations are in the [Result]. The packages in subfolders may change
// with any version.
package lockproof

// This map is for developers of lockproof. Each folder's doc.go continues from here. One rule holds for the kinds of
// server amqp, consul, redis and sql. The kinds etcd, tcp and zookeeper have only adapters/NAME, because lockproof has
// no locks of its own for them:
//
//	model/NAME                 its commands and replies, and the locks: clients as state machines, options, references,
//	                           mutants
//	sim/NAME                   the simulated server as a value (sim/amqp/broker, sim/consul/server, sim/redis/server,
//	                           sim/sql/rowstore), joined with the locks, what is drawn for it, and its open questions
//	adapters/NAME              clients of a real server of the kind, the comparison with it, and the plug-in for the gate
//
// Locks by consumption are in model/amqp/consumption and sim/amqp/consumption, and locks in a database in
// model/sql/leases. Other packages import no package of a kind of server, except those that TestServers lists. Packages
// for tests are in internal.
//
// Meanings (where a term is defined):
//
//	the role of a queue        model/amqp/amqplock: layout.go has a lock's queues and their names, queue_role.go their roles.
//	                           In a run sim/amqp/plan.go
//	the numbers of clients     in a history, by its sessions: model/history/process.go. Elsewhere clients count from 1
//	a command's description    model/backend: its effect, without the backend's own details (Exchange)
//	a lock                     model/lock: operations, outcomes, reasons, and traits that not every lock has
//	real servers' behaviour    sim/FACTS.md, with the test that measures each fact
//	the contents of files      histories: counterexample.go, jsonl.go; reports: histories/report
//
// Decisions (which code decides a question):
//
//	a client gives up          the lock's machine: acquire.go and admin.go in model/amqp/amqplock, admin.go in
//	                           model/amqp/consumption, acquire.go in model/consul, model/redis/steal.go,
//	                           model/sql/leases/machine.go. Whether that was allowed: model/monitor/monitor_end.go, or, by the
//	                           history alone, model/beliefs/judge.go
//	an external lock is wrong  adapters/foreign: judge.go and audit.go; model/property: parts.go and contract.go say which
//	                           property belongs to which part
//	a property is broken       model/monitor, model/beliefs and model/own; model/judge composes them, and lists their
//	                           properties
//	a history is linearizable  model/linear
//	the next step              model/scenario/plan.go, in an order that sim/generate.go draws; sim/fault.go carries out
//	                           faults, and behind the gate adapters/foreign/loop.go
//	a waiting command          in databases sim/sql/rowstore/gap.go, in Consul sim/consul/server, at a broker
//	continues                  sim/amqp/broker
//	a command waits            at the gate: adapters/gate defines a gate and the servers behind it, adapters/foreign/gate.go is
//	                           the gate that a schedule opens, and rest.go there (settle) says when: once every client is at
//	                           rest. Each server's plug-in is adapters/NAME/plugin, with databases' in folders of their own
//	which steps are            in a search sim/search/reductions.go (unnoticed), by the footprints of commands in
//	independent                sim/footprint.go; behind the gate adapters/orders/label.go (depend)
//	that any number of clients sim/search/anynumber
//	is right
//	how executions get short   sim/shrink/minimise.go; a search finds a shortest, sim/search/counterexample.go
//	what is reported           adapters/engine: whole runs. Stress is adapters/stress, of clients that are not ours
//	                           adapters/foreign/clientstress; its report, adapters/engine/recorded, on a cluster
//	                           adapters/engine/clustered. How a report looks:
//	                           histories/report (card.go, html.go). The exit code: cmd/lockproof/cli/exit.go
//	what earlier runs found    adapters/engine/kept replays it; histories/known has the accepted findings
//
// Additions (where to change the code):
//
//	a property                 model/property/doc.go has the steps
//	a fault                    model/scenario/doc.go has the steps
//	a backend                  sim/README.md has the steps, sim/doc.go the needs of a real server of that kind
//	a mutant                   model/amqp/mutant; model/amqp/consumption/mutants.go; else targets.go in its folder of model
//	an option of a lock        in options.go of its backend, a field of Options and its row in Table. Flags and files have it
//	                           then. To have random runs vary it: sim/amqp/options.go, else sim/*/targets.go; those of
//	                           locks by consumption are not varied
//	an option of a run         a field of the configuration in adapters/engine (config.go, or its run's folder); a field in
//	                           options.go in this folder; a flag in the file of its command in cmd/lockproof/cli, with its
//	                           name in one of that file's section(cmd, ...) lines, which order --help (prove.go, explore.go)
//	an open question           sim/*/questions.go, in the form of sim/question; adapters/engine/atlas answers it
//	a server in a container    adapters/container/container.go has its image
//	a page                     a README beside its code, its line in README.md, and two in .github/site/hugo.yaml
//	a command                  a file in cmd/lockproof/cli, and the list in main.go there
//	a call of the protocol     adapters/subprocess/protocol.go, which adapter-check uses as well
//	a library to be judged     testdata/libraries/catalogue.yaml, with its adapter; adapters/engine/libraries reads it
//	a server at the gate       adapters/NAME/plugin, by adapters/gate; its kind is listed in adapters/engine/gated/servers.go
