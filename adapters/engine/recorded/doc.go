// Package recorded judges histories that exist: a file's (check.go), and those of stress runs,
// which it makes: clients of this module (stress.go) or of other people (external.go) use a lock on a real server at once.
package recorded
