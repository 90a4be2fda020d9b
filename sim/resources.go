package sim

// Resource is the state of one object on a server: a queue, a row or a key.
type Resource struct {
	Name       string
	Properties string // properties of the object in the backend's terms, such as "durable"
	Content    int    // number of messages of a queue, or the value of another object
	// Owner is the client whose session owns the object exclusively, marked as in [monitor.Truth]; 0 means that none
	// does.
	Owner uint8
}

// Resources returns the existing objects on the servers, in the order of their first use.
func (w *World) Resources() []Resource { return w.cluster.Resources() }
