// Package redis is a real Redis: one that is found ([Find]) or started ([Start]), and connections to it that take the
// model's commands and give the model's replies, so that what it says can be compared with the simulated server's. It
// speaks through go-redis. Whatever it makes has a mark in its name, and is deleted by [Server.Sweep].
package redis
