// Package recorded judges recorded histories. It reads a history from a file (check.go), or records one in a stress run on a
// real server, where clients of this module (stress.go) or external ones (external.go) use a lock concurrently.
package recorded
