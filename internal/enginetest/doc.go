// Package enginetest is what the tests of the engine's packages share: the example targets in testdata/targets, with their bugs,
// and what they demand of a result.
package enginetest
