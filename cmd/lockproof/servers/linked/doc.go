// Package linked has the servers of package servers, with their drivers: Redis by go-redis, MariaDB by go-sql-driver/mysql,
// PostgreSQL by pgx.
package linked
