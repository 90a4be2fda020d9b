// Package queue runs campaigns on NATS JetStream by one code: on a server in our own process without a port, whose
// files are in the campaign's directory, or on an external cluster. It has a program of its own, because a NATS
// server takes as long to compile as the rest of lockproof.
//
// # Once, whatever happens
//
// Shards are messages of a stream with work-queue retention. A worker acknowledges a shard after its result is
// stored, and reports progress while it works. A shard without progress is delivered again when its lease is over.
// Results are keys of a bucket, created once under the shard's number. A second worker finds the key and drops its
// own result. Judging is deterministic, so at-least-once delivery and created-once results make exactly once. After
// any crash, the shards without a result are the rest of the work: [Run] begins by filling the queue with them.
//
// # Watching
//
// A running campaign stores its status every second, and its page every ten: beside the queue's files, or on the
// server. A [Watcher] reads them, and changes nothing. It needs neither the same build nor the target.
package queue
