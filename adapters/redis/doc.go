// Package redis is a real Redis, found ([Find]) or started ([Start]). Its connections take the model's commands and
// return the model's replies, so that they can be compared with the simulated server's. It uses go-redis. Everything
// that it makes has a mark in its name and did not exist before. [Space.Sweep] deletes it, or the next run after a
// crash.
package redis
