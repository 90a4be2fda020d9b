// Package nearest is given an execution that violates a property, and finds one that violates nothing and goes the same way
// as long as it can.
package nearest
