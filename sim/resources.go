package sim

// Resource is something that a server has, as it stands: a queue, a row, a key.
type Resource struct {
	Name       string
	Properties string // it was made with, in the backend's words, such as "durable"
	Content    int    // how many messages it has, or its value
	// Owner is the client whose session has it exclusively, marked as in [monitor.Truth]; 0 is no client.
	Owner uint8
}

// Resources are those that there are, in the order of their first use.
func (w *World) Resources() []Resource { return w.cluster.Resources() }
