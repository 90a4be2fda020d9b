// Package adaptercheck guides the author of an adapter through the protocol, call by call, before anything is proved: what
// was called, what was expected, what was answered, and what to do about it.
//
// The calls are those of two clients without any scheduling, on the simulated broker. They show whether the adapter speaks
// the protocol; package lockproof judges its lock.
package adaptercheck
