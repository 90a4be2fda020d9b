// Package monitor watches one execution and finds violations as they happen. It always knows the server's own state. A
// [Monitor] is a plain value, so that a search can copy, encode and compare it. Monitors that judge all later events
// alike are merged.
//
// Each file judges some properties, at certain events:
//
//	monitor_truth.go      mutual-exclusion, no-false-hold, removal-drains of holders, contiguous-slots,
//	                      crash-frees, survives-restart: whenever the server's state changes
//	monitor_end.go        no-phantom-slot, honest-verify, stale-belief-ends, exact-count, effective-release,
//	                      progress, removal-drains of grants, no-leak: when an operation ends
//	monitor_leases.go     lease-respected, renewal-honest, fencing-monotone, limit-respected,
//	                      priority-respected, victim-acknowledged, and honest-full of a refusal
//	monitor_commands.go   cheap-acquire, cheap-verify, minimal-driver, admin-exclusion, name-safety: commands
//	monitor_code.go       the fields that a set of properties needs, and their encoding for a search
//	cost.go               the costs of operations, by class
//
// The monitor also builds a witness of linearizability: it places each operation at a moment of its call at which the
// server's state allowed its result. If it can place all operations, they form a linearization, and package linear has
// nothing to search.
package monitor
