// Package redis is a real Redis: one that is found ([Find]) or started ([Start]), and connections to it that take the
// model's commands and give the model's replies, so that what it says can be compared with the simulated server's. It
// speaks through go-redis. Whatever it makes has a mark in its name, was not there before, and is deleted by
// [Space.Sweep], or by the next run, should this one be killed.
package redis
