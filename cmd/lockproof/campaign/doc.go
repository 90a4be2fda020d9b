// Package campaign spreads a long run over many workers, in this process or on many machines, and makes one report of
// what they come to: the one that a single machine would have made.
//
// A [Plan] is a campaign's file: the target, the space, the budget, and when to stop. The space is cut into shards: a
// range of a seed's scenarios, or a range of a table's configurations. [Run] puts the shards into a queue, takes in
// their results in the order of their numbers, and concludes. [Work] carries out shards wherever it runs. Both know a
// campaign by its [Manifest]: the plan, the build of lockproof, and a hash of the target, which must be equal
// everywhere.
//
// # Once, whatever happens
//
// The queue is NATS JetStream: a server in our own process without a port, whose files are in the campaign's directory,
// or a cluster of somebody else's; the code is the same. Shards are messages of a stream with work-queue retention. A
// worker acknowledges a shard after its result is stored, and says while it is at work that it lives; a shard that
// nobody vouches for is delivered again when its lease is over. Results are keys of a bucket, created once under the
// shard's number: whoever comes second finds the key there and drops what it has. Judging is deterministic, so that at
// least once and created once is exactly once. Whatever is killed, the shards without a result are those to be done:
// [Run] begins by filling the queue with them.
//
// # One order
//
// Results are taken in by their number, whoever was first: a campaign that stops at a violation, or when nothing new
// was covered for some shards, ends with the same shard whatever the number of workers. Later shards can be directed to
// where new coverage came from. Which they are is decided between two generations of shards, from what all shards
// before came to, so that it is the same as well.
//
// # Looking
//
// Whoever runs a campaign leaves its status every second, and its page every ten: beside the queue's files, or on the
// server. A [Watcher] reads them, and changes nothing. It needs neither the same build nor the target.
package campaign
