// Package statement reads statements of SQL as far as a gate has to know them: what they do, whether they mean something to other
// clients, and how traces show them.
package statement
