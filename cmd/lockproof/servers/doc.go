// Package servers defines how the command line uses real servers other than RabbitMQ: to replay a trace, and to measure
// locks.
//
// lockproof itself has clients of Redis and Consul. Drivers of databases would make its first build a third longer.
// Therefore lockproof contains neither these drivers nor the code that starts servers in containers. Both are in a
// separate program, lockproof-servers, which uses package linked; lockproof starts it when they are needed.
//
// The users of this package are in cmd/lockproof/cli: replay_on.go for replay --on, and comparereal.go for compare.
// handover.go starts lockproof-servers, and containers.go decides whether a container needs it.
package servers
