// Package queue runs campaigns on NATS JetStream. The server is either in this process, without a port and with its
// files in the campaign's folder, or an external cluster. The code is the same for both. The package is in a separate
// program, lockproof-campaign, because a NATS server takes as long to compile as the rest of lockproof.
//
// # Exactly once
//
// Shards are messages of a stream with work-queue retention. A worker acknowledges a shard after its result is stored,
// and reports progress while it works. A shard without progress is delivered again when its lease is over. Results are
// keys of a bucket, created once under the shard's number. If a second worker has the same shard, it finds the key and
// drops its own result. Judging is deterministic. Therefore at-least-once delivery and created-once results make
// exactly once. After any crash, the remaining work is the shards without a result: [Run] begins by filling the queue
// with them.
//
// # Watching
//
// A running campaign stores its status every second, and its page every ten seconds: beside the queue's files, or on
// the server. A [Watcher] reads them, and changes nothing. It needs neither the same build nor the target.
package queue
