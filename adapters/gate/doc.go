// Package gate defines the gate: it stands between clients and a server, while a schedule decides which command reaches the
// server next. Clients connect to an address of their own. Their commands wait at the gate and pass one at a time. The
// replies come back to the gate, which sends, holds back or loses them.
//
// Package foreign runs scenarios and is a [Gate]. Each kind of server has a plug-in, which is a [Server]. It cuts the bytes
// that a client writes into commands, carries the commands out, and knows what they mean:
//
//	adapters/amqp/plugin        the simulated broker, or a real RabbitMQ
//	adapters/consul/plugin      the simulated Consul
//	adapters/etcd/plugin        etcd
//	adapters/redis/plugin       one Redis, or several
//	adapters/sql/plugin         PostgreSQL and MariaDB
//	adapters/tcp/plugin         a server of any kind
//	adapters/zookeeper/plugin   ZooKeeper
//
// The plug-ins share these packages:
//
//	stream    a gate before a real server of any protocol over TCP
//	process   starts and stops servers, each with a port and a folder of its own
//	clock     gives servers and clients a clock that lockproof controls
//	socket    reads what a client writes, and knows whether it has written something that was not handed on yet
package gate
