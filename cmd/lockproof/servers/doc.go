// Package servers is what the command line asks of real servers other than RabbitMQ: to carry out a trace there,
// and to measure locks.
//
// Redis and Consul are reached by clients of lockproof's own. The drivers of databases would be a third of all that has to
// be compiled before lockproof's first run. So lockproof has none of them, nor what starts servers in containers: they are
// in a program of their own, lockproof-servers, which package linked is for, and which lockproof starts where they are
// needed.
//
// The command line asks in cmd/lockproof/cli: replay_on.go for replay --on, comparereal.go for compare; handover.go starts
// lockproof-servers, and containers.go says when a container needs it.
package servers
