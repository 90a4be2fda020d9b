package clock

// Threads are those of a process that has no clock of ours, of which is only looked whether they sleep.
type Threads struct{ client Client }

// NewThreads are those of a process, by its number.
func NewThreads(number int) (*Threads, error) {
	t := &Threads{Client{processes: map[int32]*process{int32(number): newProcess(int32(number))}}}
	return t, nil
}

// Rest reports whether the process is at rest, as [Client.Rest] does: it does nothing before something reaches it or its own time
// passes.
func (t *Threads) Rest() bool {
	c := &t.client
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.count(nil) && c.sleeps() && c.complete() && c.unchanged(nil)
}

// Close ends the looking.
func (t *Threads) Close() {
	t.client.mu.Lock()
	defer t.client.mu.Unlock()
	for _, p := range t.client.processes {
		p.close()
	}
	t.client.processes = nil
}
