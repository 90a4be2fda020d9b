// Package kept makes later runs repeat the counterexamples that earlier runs have left in a folder. There is one rule: an
// execution that fails is in the folder; one that has passed since is in the subfolder passed; and both are repeated before
// any scenario is drawn.
package kept
