// Package plugin puts database servers behind the gate. It implements the server that package gate defines: external clients
// send SQL, one statement at a time, to a server that lockproof starts with a virtual clock. Each kind of server implements
// [Database], in the folders postgres and mariadb.
//
// For audits, the items are tables that have more rows than at the beginning of the run, and locks that belong to no row.
// Rows that a run leaves in a table stay there. They do not disturb later runs, since the names of locks differ from run to
// run.
package plugin
