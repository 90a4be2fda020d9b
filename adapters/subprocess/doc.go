// Package subprocess runs clients of a lock that are separate programs, in any language. They speak JSON-RPC 2.0 over their
// standard input and output, with one message per line and one process per client. README.md describes the protocol.
// protocol.go defines the calls and decodes their answers; read.go matches answers with calls.
//
// A [Client] is a [foreign.Client], so package foreign can run scenarios on it. Its process leads its own process group, so
// that whatever it starts ends with it. A three-line shell script watches over the groups, and ends them when this program
// dies, for whatever reason.
//
// A program may declare that it forks. Then one process of it, which is not a client, forks the clients (fork.go).
//
// If a program does not answer correctly, the error is a [ProtocolError], after which the run cannot continue, or an
// [ExitError]. Both are one line, and include the last lines of standard error.
package subprocess
