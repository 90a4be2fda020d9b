package search

// graph is a directed graph: the successors of node i are to[first[i]:first[i+1]].
type graph struct {
	first []int
	to    []uint32
}

func (g *graph) nodes() int { return len(g.first) - 1 }

func (g *graph) edges(n uint32) []uint32 { return g.to[g.first[n]:g.first[n+1]] }

// components finds the strongly connected components (Tarjan 1972, without recursion). Components are numbered from 1.
// of[i] is the component of node i. cyclic[i] says whether component i+1 has a cycle: several nodes, or a self-loop.
func (g *graph) components() (of []uint32, cyclic []bool) {
	n := g.nodes()
	t := tarjan{graph: g, of: make([]uint32, n), low: make([]uint32, n)}
	for i := range n {
		if t.low[i] == 0 {
			t.visit(uint32(i))
		}
	}
	return t.of, t.cyclic
}

type tarjan struct {
	*graph
	of     []uint32 // indexed by node: its component, numbered from 1; 0 if not known yet
	low    []uint32 // indexed by node: Tarjan's low link, an index from 1; 0 if not visited
	index  uint32
	path   []frame
	stack  []uint32
	cyclic []bool
}

// frame is one node on the current path of the depth-first search.
type frame struct {
	node, index uint32
	edge        int // index in to of the next edge to follow
}

func (t *tarjan) enter(n uint32) {
	t.index++
	t.low[n] = t.index
	t.stack = append(t.stack, n)
	t.path = append(t.path, frame{n, t.index, t.first[n]})
}

func (t *tarjan) visit(n uint32) {
	t.enter(n)
	for len(t.path) > 0 {
		f := &t.path[len(t.path)-1]
		if f.edge == t.first[f.node+1] {
			t.leave(*f)
			continue
		}
		m := t.to[f.edge]
		f.edge++
		switch {
		case t.low[m] == 0:
			t.enter(m)
		case t.of[m] == 0:
			t.low[f.node] = min(t.low[f.node], t.low[m])
		}
	}
}

// leave is called once all edges of a frame's node are followed. If the node is the root of its component, the
// component is complete.
func (t *tarjan) leave(f frame) {
	t.path = t.path[:len(t.path)-1]
	if len(t.path) > 0 {
		up := t.path[len(t.path)-1].node
		t.low[up] = min(t.low[up], t.low[f.node])
	}
	if t.low[f.node] != f.index {
		return
	}
	at := len(t.stack) - 1
	for t.stack[at] != f.node {
		at--
	}
	cyclic := at < len(t.stack)-1
	for _, m := range t.edges(f.node) {
		cyclic = cyclic || m == f.node
	}
	t.cyclic = append(t.cyclic, cyclic)
	for _, m := range t.stack[at:] {
		t.of[m] = uint32(len(t.cyclic))
	}
	t.stack = t.stack[:at]
}
