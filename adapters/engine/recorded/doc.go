// Package recorded judges histories that exist: a file's (check.go), and those that clients of this module (stress.go) or of
// other people (external.go) leave when they use a lock on a real server all at once.
package recorded
