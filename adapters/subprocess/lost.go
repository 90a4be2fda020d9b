package subprocess

import (
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"

	"github.com/lockproof/lockproof/adapters/foreign"
)

// lost is the method of the notification with which a client reports that it has lost a lock.
const lost = "lost"

// losses holds the losses that a client has reported and that Lost has not returned yet.
type losses struct {
	announced bool // the client's answer to initialize has declared that it reports losses
	told      []foreign.Loss
}

// mostLosses is the maximum number of losses that are held.
const mostLosses = 1000

// losing are the parameters of the lost notification.
type losing struct {
	Name string `json:"name"`
}

// tell records a loss that a client reports. during is true if a call was under way.
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
