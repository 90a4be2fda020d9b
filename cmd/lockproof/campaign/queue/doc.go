// Package queue runs campaigns on NATS JetStream: a server in our own process without a port, whose files are in the
// campaign's directory, or a cluster of somebody else's; the code is the same. It is a package of its own, and its
// program one, because a NATS server is as much to compile as the rest of lockproof.
//
// # Once, whatever happens
//
// Shards are messages of a stream with work-queue retention. A worker acknowledges a shard after its result is stored,
// and says while it is at work that it lives; a shard that nobody vouches for is delivered again when its lease is over.
// Results are keys of a bucket, created once under the shard's number: whoever comes second finds the key there and
// drops what it has. Judging is deterministic, so that at least once and created once is exactly once. Whatever is
// killed, the shards without a result are those to be done: [Run] begins by filling the queue with them.
//
// # Looking
//
// Whoever runs a campaign leaves its status every second, and its page every ten: beside the queue's files, or on the
// server. A [Watcher] reads them, and changes nothing. It needs neither the same build nor the target.
package queue
