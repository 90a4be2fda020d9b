// Package plugin is databases at the gate, as package gate wants a server: anybody's clients send SQL to a server of our own, one
// statement at a time, and the server has our clock. Each kind of server is a [Database]: folder postgres, and folder mariadb.
//
// What there is, for audits, are tables that have more rows than at the beginning of the run, and locks that belong to no row. Rows
// that a run leaves in a table stay there: the names of locks differ from run to run.
package plugin
