// Package subprocess runs clients of a lock that are separate programs, in any language. They speak JSON-RPC 2.0 over
// their standard input and output, with one message per line and one process per client. README.md describes the
// protocol. protocol.go defines the calls and decodes their answers; read.go matches answers with calls.
//
// A [Client] is a [foreign.Client], so package foreign can run scenarios on it. Each client has its own process
// group, so that all processes that it starts end with it. A shell script of three lines watches over the groups. It
// ends them if this program dies.
//
// A program may declare that it forks. Then one process of it, which is not a client, forks the clients (fork.go).
//
// If a program does not answer correctly, the error is a [ProtocolError], after which the run cannot continue. If it
// ends by itself, the error is an [ExitError]. Both are one line, and include the last lines of standard error.
package subprocess
