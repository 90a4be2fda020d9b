// Package question has the open questions of the locks on each kind of server: what nobody has decided for good, such as
// whether an acquire has to look twice. Each is answered by visiting every execution of small configurations
// (adapters/engine/atlas, `lockproof atlas --server NAME`).
//
// A backend's package registers its own, beside the backend itself ([Register]). What is here is only how they are
// written down.
package question
