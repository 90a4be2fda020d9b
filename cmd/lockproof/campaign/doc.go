// Package campaign distributes a long run over many workers, in this process or on many machines. It produces one
// report, the same that a single machine would have produced.
//
// A [Plan] is a campaign's file: the target, the space, the budget, and the reasons to stop. The space is divided into
// shards: each is a range of a seed's scenarios, or a range of a table's configurations. A [Runner] puts the shards
// into a queue, reads their results in the order of the shards' numbers, and makes the report. Workers carry out shards
// on any machine. Runner and workers identify a campaign by its [Manifest]: the plan, the build of lockproof, and a
// hash of the target, which must be equal everywhere. The only runner is in the folder queue.
//
// # One order
//
// Results are read in the order of the shards' numbers, not in the order of their arrival. A campaign that stops at a
// violation, or after some shards without new coverage, therefore ends with the same shard for any number of workers.
// Later shards can be directed to the places of new coverage. They are chosen between two generations of shards, from
// the results of all earlier shards, so the choice does not depend on the number of workers either.
package campaign
