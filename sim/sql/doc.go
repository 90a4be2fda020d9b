// Package sql joins the locks of model/sql/leases with a simulated database server (sim/sql/rowstore). It registers two
// backends, mariadb and postgres, since a design that is right on one may be wrong on the other. README.md says which
// properties hold with which options.
package sql
