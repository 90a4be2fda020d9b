// Package model is what a lock is and what correct means, and nothing else: no clock, no randomness,
// no I/O. Its packages import one another only.
package model
