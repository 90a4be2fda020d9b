// Package nearest finds, for an execution that violates a property, an execution without a violation that shares the
// longest prefix with it.
package nearest
