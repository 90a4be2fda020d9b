package subprocess

import (
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"

	"github.com/lockproof/lockproof/adapters/foreign"
)

// lost is the notification by which a client tells that it has lost a lock.
const lost = "lost"

// losses are those that a client has told of, and nobody has taken yet.
type losses struct {
	announced bool // by its answer to initialize
	told      []foreign.Loss
}

// mostLosses is how many there may be.
const mostLosses = 1000

// losing is what a client tells by that.
type losing struct {
	Name string `json:"name"`
}

// tell takes in what a client tells.
func (l *losses) tell(r *Reply, during bool) error {
	var in losing
	switch err := json.Unmarshal(r.Params, &in); {
	case !l.announced:
		return errors.New(`told of a lost lock: expected "losses":true in the answer to initialize as well`)
	case err != nil || in.Name == "":
		return fmt.Errorf(`told of a lost lock with the params %s: expected the lock's name, such as {"name":"jobs"}`, quoted(string(r.Params)))
	case len(l.told) == mostLosses:
		return fmt.Errorf("told of %d lost locks in a row: expected it to tell once of what it holds", mostLosses+1)
	}
	l.told = append(l.told, foreign.Loss{Name: in.Name, During: during})
	return nil
}

// Lost implements [foreign.Losing].
func (c *Client) Lost() []foreign.Loss {
	c.mu.Lock()
	defer c.mu.Unlock()
	told := c.losses.told
	c.losses.told = nil
	return told
}
