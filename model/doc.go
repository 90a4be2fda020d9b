// Package model defines locks and their correctness, without clock, randomness or I/O. Its packages import only one
// another.
//
// For each kind of server it has the commands and replies, and the locks as state machines: amqp, redis, consul and
// sql. The simulated servers are in sim: sim/amqp/broker, sim/redis/server, sim/consul/server and sim/sql/rowstore.
package model
