// Package question describes open questions: decisions that the design of a kind of lock leaves open, such as whether
// an acquire has to read the lock twice.
//
// A backend's package registers its questions beside the backend itself ([Register]). adapters/engine/atlas answers
// them by visiting every execution of small configurations (`lockproof atlas --server NAME`).
package question
