// Package recorded judges recorded histories. A history comes from a file (check.go) or from a stress run on a real
// server. In a stress run, several clients use a lock at once: clients of this module (stress.go) or external ones
// (external.go).
package recorded
