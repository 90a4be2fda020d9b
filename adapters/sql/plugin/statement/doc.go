// Package statement parses SQL statements as far as a gate needs: what they do, whether they concern other clients, and how
// traces show them.
package statement
