// Package kept makes later runs repeat the counterexamples that earlier runs have stored in a folder. An execution that
// still fails is in the folder itself. One that has passed when last repeated is in the subfolder "passed". A run
// repeats both before it draws any scenario.
package kept
