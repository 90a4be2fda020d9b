package rabbitmq

// InRegistry makes the broker use a registry queue of the test's own.
func (b *Broker) InRegistry(name string) *Broker {
	b.registry = name
	return b
}

// Drop ends this run as its death would: it closes the run's connection to the registry.
func (b *Broker) Drop() {
	_ = b.registered.conn.Close()
}

// Mark is the prefix that marks the names of this run's queues.
func (b *Broker) Mark() string { return b.registered.Mark }

// Noted is the number of this run's notes on the broker.
func (b *Broker) Noted() int {
	r := b.registered
	r.mu.Lock()
	defer r.mu.Unlock()
	q, err := r.notes.QueueDeclarePassive(r.entry.notes(), true, false, false, false, nil)
	if err != nil {
		panic(err)
	}
	return q.Messages
}

// StartUsual starts a container with the default image, for tests.
var StartUsual = startUsual
