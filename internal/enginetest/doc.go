// Package enginetest has helpers for the tests of the engine's packages: the example locks in testdata/targets with
// their bugs, and checks of a run's result.
package enginetest
