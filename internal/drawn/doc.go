// Package drawn draws random histories, to test checkers of histories. First it draws a legal history of a correct
// lock, with faults. Then it may change the history a little, so that it may become illegal or malformed. Its choices
// come from a seed, or from the bytes of a fuzzer. [Script] reads a history from lines of text.
package drawn
