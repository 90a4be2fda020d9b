package clock

// Threads watches the threads of a process that uses the machine's clock. It only shows whether the process is at
// rest.
type Threads struct{ client Client }

// NewThreads starts watching the threads of the process with the given number.
func NewThreads(number int) (*Threads, error) {
	t := &Threads{Client{processes: map[int32]*process{int32(number): newProcess(int32(number))}}}
	return t, nil
}

// Rest reports whether the process is at rest, like [Client.Rest]: it does nothing until it receives something or the
// machine's time passes.
func (t *Threads) Rest() bool {
	c := &t.client
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.count(nil) && c.sleeps() && c.complete() && c.unchanged(nil)
}

// Close stops watching the process.
func (t *Threads) Close() {
	t.client.mu.Lock()
	defer t.client.mu.Unlock()
	for _, p := range t.client.processes {
		p.close()
	}
	t.client.processes = nil
}
