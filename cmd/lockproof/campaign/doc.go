// Package campaign spreads a long run over many workers, in this process or on many machines. It makes one report,
// the one that a single machine would have made.
//
// A [Plan] is a campaign's file: the target, the space, the budget, and the reasons to stop. The space is cut into
// shards: a range of a seed's scenarios, or a range of a table's configurations. A [Runner] puts the shards into a
// queue, reads their results in the order of their numbers, and concludes. Workers carry out shards on any machine.
// Both know a campaign by its [Manifest]: the plan, the build of lockproof, and a hash of the target, which must be
// equal everywhere. The only runner is in the folder queue.
//
// # One order
//
// Results are read by their number, not by their arrival. A campaign that stops at a violation, or without new
// coverage in some shards, therefore ends with the same shard for any number of workers. Later shards can be directed
// to the places of new coverage. They are chosen between two generations of shards, from the results of all earlier
// shards, so the choice is the same as well.
package campaign
