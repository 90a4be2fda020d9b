// Package figures measures how fast lockproof is, side by side with something else in the same run, and writes the
// page of figures beside it: `make figures`. A figure is a table of cases that are measured in turn, several times,
// each against the first case of the same turn. The page has the medians of these ratios. Without its flags the
// test measures each figure once, at a tiny size, so that all of them can be measured.
//
//	figures_test.go  the flags, what a figure is, and how one is measured
//	page_test.go     the page
//	search_test.go   figures of the search, and of sampling
//	history_test.go  figures of histories
//	gate_test.go     figures of clients behind the gate
package figures
