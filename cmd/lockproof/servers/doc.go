// Package servers is what the command line asks of real servers other than RabbitMQ and Consul: to carry out a trace there,
// and to measure locks.
//
// Their drivers are a third of all that there would be to compile for the first command. So the command line is handed the
// servers by its program: those of package linked are in lockproof-servers alone, which lockproof hands over to.
//
// The command line asks in cmd/lockproof/cli: replay_on.go for replay --on, comparereal.go for compare; handover.go starts
// lockproof-servers.
package servers
