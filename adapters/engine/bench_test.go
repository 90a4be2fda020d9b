package engine_test

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/engine/explore"
	"github.com/lockproof/lockproof/adapters/engine/recorded"
	"github.com/lockproof/lockproof/adapters/engine/sample"
	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/sim"
	"github.com/lockproof/lockproof/sim/search"
)

// BenchmarkProve draws and runs whole scenarios on one core, and judges each by every property.
func BenchmarkProve(b *testing.B) {
	for _, target := range amqplock.References {
		b.Run(target.Name, func(b *testing.B) {
			b.ReportAllocs()
			res, err := sample.Prove(b.Context(), sample.Config{Target: target, Sampling: engine.Sampling{Scenarios: b.N, Workers: 1}})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "scenarios/s")
			b.ReportMetric(float64(res.Report.Commands)/float64(b.N), "commands/scenario")
		})
	}
}

// BenchmarkExplore visits every state of one configuration on one core: once with all reductions, once with none.
func BenchmarkExplore(b *testing.B) {
	for name, reductions := range map[string]search.Reductions{"reduced": search.AllReductions, "whole": {}} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var states int64
			for range b.N {
				x, err := explore.Run(b.Context(), explore.Exploration{
					Workload: explore.Workload{Clients: 2, Rounds: 1, Admins: 1, Slots: 2, Faults: sim.FaultBounds{Crashes: 1}},
					Search:   search.Options{Reductions: reductions, Workers: 1},
				})
				if err != nil {
					b.Fatal(err)
				}
				states += x.Search.States
			}
			b.ReportMetric(float64(states)/b.Elapsed().Seconds(), "states/s")
		})
	}
}

// BenchmarkCheck reads a recorded history of a million operations by 30 clients from JSON Lines. Then it judges every
// property whose violations a history alone can show. 1 % of the operations never got an answer.
func BenchmarkCheck(b *testing.B) {
	var file bytes.Buffer
	if err := histories.WriteHistory(&file, crowd(1_000_000, 30)); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.SetBytes(int64(file.Len()))
	var reading, checking time.Duration
	for range b.N {
		began := time.Now()
		h, _, err := histories.ReadHistory(bytes.NewReader(file.Bytes()), "crowd", histories.Unnamed)
		if err != nil {
			b.Fatal(err)
		}
		read := time.Now()
		judged, err := recorded.Check(h, recorded.CheckOptions{})
		if err != nil || judged.Outcome() != report.OutcomeHolds {
			b.Fatal(err, judged)
		}
		reading, checking = reading+read.Sub(began), checking+time.Since(read)
	}
	b.ReportMetric(reading.Seconds()/float64(b.N), "s/read")
	b.ReportMetric(checking.Seconds()/float64(b.N), "s/check")
	b.ReportMetric(checking.Seconds()/reading.Seconds(), "check/read")
}

// BenchmarkCheckRecording judges the history of BenchmarkCheck while reading it.
func BenchmarkCheckRecording(b *testing.B) {
	var file bytes.Buffer
	if err := histories.WriteHistory(&file, crowd(1_000_000, 30)); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.SetBytes(int64(file.Len()))
	for range b.N {
		recording, err := histories.NewRecording(bytes.NewReader(file.Bytes()), "crowd", histories.Unnamed)
		if err != nil {
			b.Fatal(err)
		}
		judged, err := recorded.CheckRecording(recording, recorded.CheckOptions{})
		if err != nil || judged.Outcome() != report.OutcomeHolds {
			b.Fatal(err, judged)
		}
	}
}

// crowd returns a history of clients that compete for 20 slots. One acquire in fifty never gets an answer: its client
// crashes, the broker notices, and the client continues under a new process number.
func crowd(operations, clients int) *history.History {
	const slots = 20
	random := rand.New(rand.NewPCG(1, 1))
	h := &history.History{Kind: lock.Semaphore, Locks: []string{"jobs"}, Slots: []int{slots}}
	say := func(e history.Event) {
		e.Time = int64(len(h.Events)) * 1000
		h.Events = append(h.Events, e)
	}
	holder := make([]int, slots+1) // indexed by slot; holds the client's number, 0 if the slot is free
	process, held, full := make([]int32, clients+1), make([]int, clients+1), make([]bool, clients+1)
	calling := make([]bool, clients+1)
	for c := range process {
		process[c] = int32(c)
	}
	for operations > 0 {
		c := 1 + random.IntN(clients)
		p := process[c]
		switch {
		case !calling[c] && held[c] == 0:
			operations--
			say(history.Event{Process: p, Type: history.Invoke, F: history.F(lock.Acquire)})
			calling[c], full[c] = true, true
			for s := 1; s <= slots; s++ {
				if holder[s] == 0 {
					holder[s], held[c], full[c] = c, s, false
					break
				}
			}
		case !calling[c]:
			operations--
			say(history.Event{Process: p, Type: history.Invoke, F: history.F(lock.Release), Slot: uint16(held[c])})
			holder[held[c]], calling[c] = 0, true
		case full[c]:
			say(history.Event{Process: p, Type: history.Fail, F: history.F(lock.Acquire), Reason: lock.Full})
			calling[c], full[c] = false, false
		case holder[held[c]] == c && random.IntN(50) == 0:
			say(history.Event{Process: history.Nemesis, Target: p, Type: history.Info, F: history.Crash})
			say(history.Event{Process: history.Nemesis, Target: p, Type: history.Info, F: history.Gone})
			holder[held[c]], held[c], calling[c] = 0, 0, false
			process[c] += int32(clients)
		case holder[held[c]] == c:
			say(history.Event{Process: p, Type: history.OK, F: history.F(lock.Acquire), Slot: uint16(held[c]), Held: true})
			calling[c] = false
		default:
			say(history.Event{Process: p, Type: history.OK, F: history.F(lock.Release), Slot: uint16(held[c])})
			held[c], calling[c] = 0, false
		}
	}
	return h
}
