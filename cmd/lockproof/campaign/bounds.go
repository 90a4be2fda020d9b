package campaign

import (
	"fmt"
	"math"
)

// Bounds of a plan's numbers. Each kind of campaign checks later whether its numbers make sense. These bounds protect
// that check, and workers that read a plan from a queue, from huge numbers.
const (
	mostExecutions   = 1_000_000_000_000 // more than all machines run in a lifetime
	mostOfAKind      = 1000              // of clients, slots, rounds, or faults
	mostDepth        = 64                // depth of the strategy PCT
	mostSearchMemory = 1 << 20           // in MiB
)

// number is a number of a plan with its bound. The value 0 means that the plan leaves it out.
type number struct {
	name        string
	value, most int
}

// bounded returns an error if a number of the plan is out of bounds.
func (p *Plan) bounded() error {
	numbers := []number{
		{"shard", p.Shard, mostExecutions}, {"budget: executions", p.Budget.Executions, mostExecutions},
		{"stop: no_new_coverage", p.Stop.NoNewCoverage, mostShards}, {"judge: memory", p.Judge.Memory, mostSearchMemory},
	}
	if s := p.Sample; s != nil {
		numbers = append(numbers, number{"sample: pct_depth", s.PCTDepth, mostDepth}, number{"sample: generation", s.Generation, mostShards})
	}
	for i := range p.Configurations {
		c := &p.Configurations[i]
		numbers = append(numbers, c.Size.numbers("configurations")...)
		numbers = append(numbers, c.Faults.numbers("configurations: faults")...)
	}
	if p.Sweep != nil {
		for i := range p.Sweep.Sizes {
			numbers = append(numbers, p.Sweep.Sizes[i].numbers("sweep: sizes")...)
		}
		for i := range p.Sweep.Faults {
			numbers = append(numbers, p.Sweep.Faults[i].numbers("sweep: faults")...)
		}
	}
	for _, n := range numbers {
		if n.value < 0 || n.value > n.most {
			return fmt.Errorf("%s %d: expected 1 to %d, or that it is left out", n.name, n.value, n.most)
		}
	}
	if rows := p.rows(); rows > mostRows {
		return fmt.Errorf("%.0f configurations: expected at most %d", rows, mostRows)
	}
	return nil
}

func (s *Size) numbers(of string) []number {
	return []number{
		{of + ": clients", s.Clients, mostOfAKind}, {of + ": rounds", s.Rounds, mostOfAKind},
		{of + ": admins", s.Admins, mostOfAKind}, {of + ": slots", s.Slots, mostOfAKind},
	}
}

func (f *Faults) numbers(of string) []number {
	return []number{
		{of + ": crashes", f.Crashes, mostOfAKind}, {of + ": drops", f.Drops, mostOfAKind}, {of + ": channel_errors", f.ChannelErrors, mostOfAKind},
		{of + ": lost", f.Lost, mostOfAKind}, {of + ": restarts", f.Restarts, mostOfAKind},
	}
}

// rows is the number of rows of a table, including combinations of options that are impossible.
func (p *Plan) rows() float64 {
	if p.Sweep == nil {
		return float64(len(p.Configurations))
	}
	n := math.Max(1, float64(len(p.Sweep.Sizes))) * math.Max(1, float64(len(p.Sweep.Faults)))
	for _, axis := range p.Sweep.Options {
		n *= float64(len(axis.Values))
	}
	return n
}

// few returns an error if the shards are so small that there are too many for a queue.
func few(limit, size int) error {
	if n := (limit-1)/size + 1; n > mostShards {
		return fmt.Errorf("shard %d: there would be %d shards, expected at most %d", size, n, mostShards)
	}
	return nil
}
