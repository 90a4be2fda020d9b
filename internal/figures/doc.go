// Package figures measures how fast lockproof is, and writes the page of figures: `make figures`. A figure is a table
// of cases. Each case is measured several times, and compared with the first case of the same round. The page shows
// the medians of these ratios. Without its flags, the test measures each figure once, at a tiny size, to check that
// it can be measured.
//
//	figures_test.go  the flags, the type of a figure, and how one is measured
//	page_test.go     the page
//	search_test.go   figures of the search, and of sampling
//	history_test.go  figures of histories
//	gate_test.go     figures of clients behind the gate
package figures
