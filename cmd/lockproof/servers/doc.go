// Package servers is what the command line asks of real servers that other locks stand on than RabbitMQ's: to carry out a
// trace there, and to measure locks.
//
// Their drivers are a third of all that there would be to compile for the first command. So the command line is handed the
// servers by its program: those of package linked are in lockproof-servers alone, which lockproof hands over to.
package servers
