// Package redis finds ([Find]) or starts ([Start]) a real Redis. Its connections take the model's commands and return the
// model's replies, so that they can be compared with the simulated server's. It uses go-redis. Everything that it creates
// has a mark in its name and did not exist before. [Space.Sweep] deletes it or, after a crash, the next run.
package redis
