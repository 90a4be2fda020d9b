package redis_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/model/redis"
	simredis "github.com/lockproof/lockproof/sim/redis"
)

// TestChainTable: the table of chain lengths in sim/redis/README.md has the numbers that the formulas give.
func TestChainTable(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "sim", "redis", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, priorities := range []int{2, 10, 100, 1000} {
		p := redis.ChainLengths(priorities)
		sum, mean, deviation := redis.Moments(p)
		if math.Abs(sum-1) > 1e-9 {
			t.Errorf("%d priorities: the probabilities add up to %v", priorities, sum)
		}
		all, text, _ := redis.Moments(redis.ChainOfText(priorities))
		row := fmt.Sprintf("| %d | %.3f | %.3f | %.2g | %.2g | %.6f of %.6f |", priorities, mean, deviation, redis.Tail(p, 10), redis.Tail(p, 15), text, all)
		if !strings.Contains(string(page), row) {
			t.Errorf("sim/redis/README.md: expected the row\n%s", row)
		}
	}
}

// TestChainLengths: for six priorities, the exact distribution is that of a count of all orders.
func TestChainLengths(t *testing.T) {
	const priorities = 6
	counts := make([]int, priorities+1)
	total := 0
	var orders func(left []int, best, records int)
	orders = func(left []int, best, records int) {
		if len(left) == 0 {
			counts[records]++
			total++
			return
		}
		for i, p := range left {
			rest := append(append([]int(nil), left[:i]...), left[i+1:]...)
			if p > best {
				orders(rest, p, records+1)
			} else {
				orders(rest, best, records)
			}
		}
	}
	orders([]int{1, 2, 3, 4, 5, 6}, 0, 0)
	for n, p := range redis.ChainLengths(priorities) {
		if want := float64(counts[n]) / float64(total); math.Abs(p-want) > 1e-12 {
			t.Errorf("length %d: %v, but %d of %d orders", n, p, counts[n], total)
		}
	}
}

// TestChainsOfMachines: the mean length of simulated chains of a hundred clients is that of the exact distribution.
func TestChainsOfMachines(t *testing.T) {
	const priorities, rounds = 100, 3000
	r := rand.New(rand.NewPCG(1, 2))
	p := redis.Protocol{Options: redis.Text()}
	p.Lease = 1000
	sum := 0
	for range rounds {
		order := r.Perm(priorities)
		for i := range order {
			order[i]++
		}
		sum += simredis.Round(&p, order)
	}
	mean := float64(sum) / rounds
	_, expected, deviation := redis.Moments(redis.ChainLengths(priorities))
	if limit := 5 * deviation / math.Sqrt(rounds); math.Abs(mean-expected) > limit {
		t.Errorf("a mean of %.3f in %d rounds, want %.3f ± %.3f", mean, rounds, expected, limit)
	}
}
