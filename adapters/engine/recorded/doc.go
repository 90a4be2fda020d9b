// Package recorded judges recorded histories. It reads one from a file (check.go), or records one itself, by a stress run
// on a real server. Clients of this module (stress.go) or external ones (external.go) use a lock there all at once.
package recorded
