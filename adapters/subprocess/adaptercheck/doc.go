// Package adaptercheck walks the author of an adapter through the protocol, call by call, before anything
// is proved: what was called, what was expected, what came, and what to do about it.
//
// The calls are those of two clients that get along without any scheduling, on the simulated broker. They
// show whether an adapter can be talked to; whether its lock is any good is for package lockproof.
package adaptercheck
