// Package monitor watches one execution of which the server's own state is known, and finds the properties that it
// violates, as they happen. A [Monitor] is a plain value: a search copies it, encodes it and merges states in which it
// would judge the same.
//
// Which file decides what:
//
//	monitor_truth.go      mutual-exclusion, no-false-hold, removal-drains of holders, contiguous-slots,
//	                      crash-frees, survives-restart: judged whenever the truth changes
//	monitor_end.go        what an answer claims: no-phantom-slot, honest-verify, stale-belief-ends, exact-count,
//	                      effective-release, progress, removal-drains of grants, no-leak: judged when an operation ends
//	monitor_leases.go     what leases promise: lease-respected, renewal-honest, fencing-monotone, limit-respected,
//	                      priority-respected, victim-acknowledged, and honest-full of a refusal
//	monitor_commands.go   what was sent: cheap-acquire, cheap-verify, minimal-driver, admin-exclusion, name-safety
//	monitor_code.go       which fields a set of properties needs, and their encoding for a search
//	cost.go               what operations cost, by class
//
// It also keeps a witness of linearizability: as long as every operation can be placed at a moment at which the truth
// allowed it, that placement is a linearization, and package linear need not be asked.
package monitor
