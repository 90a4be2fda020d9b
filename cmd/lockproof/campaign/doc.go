// Package campaign spreads a long run over many workers, in this process or on many machines, and makes one report of
// what they come to: the one that a single machine would have made.
//
// A [Plan] is a campaign's file: the target, the space, the budget, and when to stop. The space is cut into shards: a
// range of a seed's scenarios, or a range of a table's configurations. A [Runner] puts the shards into a queue, takes in
// their results in the order of their numbers, and concludes; workers carry out shards wherever they run. Both know a
// campaign by its [Manifest]: the plan, the build of lockproof, and a hash of the target, which must be equal
// everywhere. The one runner there is is in the folder queue.
//
// # One order
//
// Results are taken in by their number, whoever was first: a campaign that stops at a violation, or when nothing new
// was covered for some shards, ends with the same shard whatever the number of workers. Later shards can be directed to
// where new coverage came from. Which they are is decided between two generations of shards, from what all shards
// before came to, so that it is the same as well.
package campaign
