package campaign

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/lockproof/lockproof/histories/safetext"
)

// Status says how far a campaign is, and whether it is over.
type Status struct {
	Name string `json:"name"`
	Progress
	Done        int     `json:"done"`             // number of completed shards
	Running     int     `json:"running"`          // number of shards that workers are carrying out
	Redelivered int     `json:"redelivered"`      // number of repeated deliveries of shards to workers
	Refused     int     `json:"refused,omitzero"` // number of invalid messages, and of invalid or false results
	PerSecond   float64 `json:"per_second"`       // executions per second, since this run of the campaign began
	Seconds     float64 `json:"seconds"`          // total running time of the campaign
	Left        float64 `json:"left"`             // seconds until the campaign's end at this rate; 0 if unknown
	Over        string  `json:"over,omitempty"`
	// Reported says that the campaign is over, and that its report is stored with minimised counterexamples.
	Reported bool `json:"reported"`
	// At is the time at which this status was made.
	At time.Time `json:"at"`
}

// abandoned is the age of a status from which a campaign seems to have no runner.
const abandoned = 10 * time.Second

// String describes the status in one line, for example "3 of 20 shards, 2 running, ...".
func (s *Status) String() string {
	out := []string{fmt.Sprintf("%d of %d shards", s.Done, s.Shards)}
	if s.Over == "" {
		out = append(out, fmt.Sprintf("%d running", s.Running))
	}
	out = append(out, fmt.Sprintf("%d redelivered", s.Redelivered), fmt.Sprintf("%d %s", s.Executions, cmp.Or(s.Unit, executions)))
	if s.Refused > 0 {
		out = append(out, fmt.Sprintf("%d refused", s.Refused))
	}
	if s.PerSecond > 0 && s.Over == "" {
		out = append(out, fmt.Sprintf("%.0f a second", s.PerSecond))
	}
	if len(s.Violated) > 0 {
		out = append(out, "violated: "+strings.Join(s.Violated, " "))
	} else {
		out = append(out, "no violation")
	}
	switch {
	case s.Over != "" && s.Reported:
		out = append(out, "over: "+s.Over)
	case s.Over != "":
		out = append(out, "over: "+s.Over+"; the card is being made")
	case !s.At.IsZero() && time.Since(s.At) > abandoned:
		out = append(out, "nobody has run it since "+s.At.Format(time.DateTime))
	case s.Left > 0:
		out = append(out, "about "+time.Duration(s.Left*float64(time.Second)).Round(time.Second).String()+" left")
	}
	return safetext.OneLine(strings.Join(out, ", ")) // a status may come from any user of the server
}

// WriteStatus writes a status as a line of JSON.
func WriteStatus(w io.Writer, s *Status) error {
	data, err := json.Marshal(s)
	if err != nil {
		return err
	}
	_, err = w.Write(append(safetext.JSON(data), '\n'))
	return err
}
