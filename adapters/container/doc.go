// Package container names servers in containers, by their official image and a tag, such as rabbitmq:4.1, and defines the
// interface of such a server.
//
// Package docker starts the servers, with testcontainers-go. testcontainers-go depends on as many modules as the rest of
// lockproof together, so lockproof does not link it. lockproof-servers and tests do, and pass package docker on as a
// [Starter].
package container
