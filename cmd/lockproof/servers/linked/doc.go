// Package linked contains the servers of package servers together with their drivers: Redis with go-redis, MariaDB with
// go-sql-driver/mysql, PostgreSQL with pgx.
package linked
