// Package linked contains all servers of package servers, together with their drivers: Redis with go-redis, MariaDB
// with go-sql-driver/mysql, and PostgreSQL with pgx.
package linked
