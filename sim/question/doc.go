// Package question says how open questions are written down: what a kind of lock leaves undecided, such as whether an
// acquire has to look twice.
//
// A backend's package registers its own, beside the backend itself ([Register]). The answers are adapters/engine/atlas's,
// which visits every execution of small configurations (`lockproof atlas --server NAME`).
package question
