package sim

// Resource is the state of something on a server: a queue, a row, a key.
type Resource struct {
	Name       string
	Properties string // how it was made, in the backend's words, such as "durable"
	Content    int    // its number of messages, or its value
	// Owner is the client whose session owns it exclusively, marked as in [monitor.Truth]; 0 is no client.
	Owner uint8
}

// Resources are the existing resources, in the order of their first use.
func (w *World) Resources() []Resource { return w.cluster.Resources() }
