// Package kept has later runs carry out the counterexamples that earlier runs have left in a folder. There is one rule: an
// execution that fails is in the folder, one that has passed since in its folder passed, and both are carried out before
// anything is drawn.
package kept
