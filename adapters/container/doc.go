// Package container names servers in containers, by their official image and a tag, such as rabbitmq:4.1, and says what
// such a server is to its users.
//
// Package docker starts them, by testcontainers-go. It has as many modules as all else that lockproof is built of, so
// lockproof does not link it: lockproof-servers and tests do, and hand it to others as a [Starter].
package container
