package rabbitmq

// InRegistry is the broker with a registry of a test's own.
func (b *Broker) InRegistry(name string) *Broker {
	b.registry = name
	return b
}

// Drop ends the run as its death does.
func (b *Broker) Drop() {
	_ = b.registered.conn.Close()
}

// Mark is what the names of this run begin with.
func (b *Broker) Mark() string { return b.registered.Mark }

// Noted is how many notes this run has on the broker.
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

// StartUsual starts a container where there is no other broker.
var StartUsual = startUsual
