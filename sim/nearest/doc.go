// Package nearest finds the execution nearest to one that violates something in which all is well: it goes the same way
// as long as it can.
package nearest
