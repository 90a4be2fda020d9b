// Package subprocess runs clients of a lock that are programs of their own, in any language: JSON-RPC 2.0 over their
// standard input and output, one message a line, one process a client. README.md describes the protocol; protocol.go has
// its calls and reads their answers, read.go matches an answer with its call.
//
// A [Client] is what package foreign plays scenarios with. Its process leads a process group of its own, so that whatever
// it starts ends with it. A shell of three lines watches over the group, and ends it when this program dies, of whatever
// cause.
//
// A program may say that it forks: then one process of it, which is no client, forks those that are needed (fork.go).
//
// Whatever a program does instead of answering becomes one of two errors: a [ProtocolError] of the protocol, with
// which there is no going on, or a [ExitError]. Both are one line, the last lines of its standard error included.
package subprocess
