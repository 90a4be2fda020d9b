package redis

import (
	"fmt"
	"math/rand/v2"

	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/redis"
	"github.com/lockproof/lockproof/sim/question"
	"github.com/lockproof/lockproof/sim/redis/server"
)

// ChainFigure is the name of the row about the length of chains of thieves, which also a real server can be asked
// for.
const ChainFigure = "chains"

const (
	chainPriorities = 100
	chainRounds     = 3000 // on the simulated server
)

// chains is the row about the length of the chain of thieves, if each of a hundred priorities has one client.
func chains() question.Row {
	return question.Row{Setting: "a hundred priorities, all orders as likely", Figure: &question.Figure{
		Name: ChainFigure, Bounds: fmt.Sprintf("%d clients that acquire, each with a priority of its own", chainPriorities),
		Said: func() []string { return []string{chainsOfText(), chainsExactly(), chainsPlayed()} },
	}}
}

// chainsOfText is the result of the text's formula.
func chainsOfText() string {
	all, mean, _ := redis.Moments(redis.ChainOfText(chainPriorities))
	return fmt.Sprintf("the text: a mean of %.6f, by probabilities that add up to %.6f", mean, all)
}

// chainsExactly is the exact distribution, in a line.
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

// ChainOrders calls each with random orders of the priorities, rounds times. The orders are the same in every run.
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

// ChainsPlayed prints the mean and the longest of the chains' lengths; sum is their total.
func ChainsPlayed(rounds, sum, longest int) string {
	return fmt.Sprintf("a mean of %.3f in %d rounds, the longest %d", float64(sum)/float64(rounds), rounds, longest)
}

// chainsPlayed is the result of rounds on the simulated server.
func chainsPlayed() string {
	p := redis.Protocol{Options: redis.Text()}
	p.Lease = 1000
	sum, longest := 0, 0
	_ = ChainOrders(chainRounds, func(order []int) error { // a chain never fails
		length := Round(&p, order)
		sum, longest = sum+length, max(longest, length)
		return nil
	})
	return "simulated: " + ChainsPlayed(chainRounds, sum, longest)
}

// Round plays a round, with machines on their own server, in which clients with those priorities arrive in that
// order. It returns the length of the chain.
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
