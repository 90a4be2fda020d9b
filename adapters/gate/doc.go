// Package gate defines what stands between clients and a server while a schedule decides which command reaches the server
// next. Clients connect to an address of their own. Their commands wait at the gate, pass one at a time, and the replies come
// back to the gate, which sends, keeps or loses them.
//
// Package foreign runs scenarios and is a [Gate]. Each kind of server has a plug-in, which is a [Server]: adapters/amqp/plugin,
// adapters/redis/plugin, adapters/sql/plugin. The plug-in cuts what a client writes into commands, carries them out, and knows what they mean.
package gate
