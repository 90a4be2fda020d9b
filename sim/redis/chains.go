package redis

import (
	"fmt"
	"math/rand/v2"

	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/redis"
	"github.com/lockproof/lockproof/sim/question"
	"github.com/lockproof/lockproof/sim/redis/server"
)

// ChainFigure is the name of the figure about the length of chains of thieves. In a chain, each client steals the lock
// from the one before. The figure can also be measured on a real server.
const ChainFigure = "chains"

const (
	chainPriorities = 100
	chainRounds     = 3000 // number of rounds on the simulated server
)

// chains returns the row about the length of a chain of thieves, if a hundred clients acquire, each with its own
// priority.
func chains() question.Row {
	return question.Row{Setting: "a hundred priorities, all orders as likely", Figure: &question.Figure{
		Name: ChainFigure, Bounds: fmt.Sprintf("%d clients that acquire, each with a priority of its own", chainPriorities),
		Said: func() []string { return []string{chainsOfText(), chainsExactly(), chainsPlayed()} },
	}}
}

// chainsOfText returns the mean length by the formula in the text that describes this lock.
func chainsOfText() string {
	all, mean, _ := redis.Moments(redis.ChainOfText(chainPriorities))
	return fmt.Sprintf("the text: a mean of %.6f, by probabilities that add up to %.6f", mean, all)
}

// chainsExactly returns the exact distribution of the length, as one line.
func chainsExactly() string {
	p := redis.ChainLengths(chainPriorities)
	_, mean, deviation := redis.Moments(p)
	longest := 0
	said := ""
	for n, share := range p {
		if share >= 0.001 {
			said, longest = fmt.Sprintf("%s %d: %.3f", said, n, share), n
		}
	}
	return fmt.Sprintf("exactly: a mean of %.3f, deviation %.3f;%s; longer: %.4f", mean, deviation, said, redis.Tail(p, longest))
}

// ChainOrders calls each with a random order of the priorities, rounds times. The orders are the same in every run.
func ChainOrders(rounds int, each func(priorities []int) error) error {
	r := rand.New(rand.NewPCG(12, 4))
	for range rounds {
		order := r.Perm(chainPriorities)
		for i := range order {
			order[i]++
		}
		if err := each(order); err != nil {
			return err
		}
	}
	return nil
}

// ChainsPlayed describes the results of some rounds: the mean length of the chains, and the longest. sum is the total
// of the lengths.
func ChainsPlayed(rounds, sum, longest int) string {
	return fmt.Sprintf("a mean of %.3f in %d rounds, the longest %d", float64(sum)/float64(rounds), rounds, longest)
}

// chainsPlayed returns the results of rounds on the simulated server.
func chainsPlayed() string {
	p := redis.Protocol{Options: redis.Text()}
	p.Lease = 1000
	sum, longest := 0, 0
	_ = ChainOrders(chainRounds, func(order []int) error { // the callback returns no error
		length := Round(&p, order)
		sum, longest = sum+length, max(longest, length)
		return nil
	})
	return "simulated: " + ChainsPlayed(chainRounds, sum, longest)
}

// Round simulates clients with these priorities that acquire in this order, on a new server. It returns the length of
// the chain of thieves.
func Round(p *redis.Protocol, priorities []int) (length int) {
	var s server.Server
	for _, priority := range priorities {
		var m redis.Machine
		p.Start(&m, uint8(priority), lock.Acquire, uint8(priority), 0)
		_, c := p.Next(&m, 0)
		p.Apply(&m, s.Apply(c), 0)
		if m.Phase == redis.Waiting || m.Held {
			length++
		}
	}
	return length
}
