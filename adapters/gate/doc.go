// Package gate defines the layer between clients and a server, the gate. A schedule decides which command reaches the
// server next. Clients connect to the gate. Their commands wait there and pass one at a time. The replies return to
// the gate, which sends, delays or drops them.
//
// Package foreign runs scenarios and implements [Gate]. Each kind of server has a plug-in, which implements [Server]:
// adapters/amqp/plugin, adapters/redis/plugin, adapters/sql/plugin and others. The plug-in splits what a client
// writes into commands, carries the commands out, and determines their effects.
package gate
