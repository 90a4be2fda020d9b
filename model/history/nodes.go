package history

import (
	"fmt"
	"strings"
)

// Nodes is a set of a cluster's nodes. Nodes are numbered from 1 to [MostNodes].
type Nodes uint16

// MostNodes is the largest number of nodes in a history.
const MostNodes = 16

// NodesOf makes the set of the nodes with these numbers.
func NodesOf(numbers ...int) (n Nodes) {
	for _, i := range numbers {
		n |= 1 << (i - 1)
	}
	return n
}

// Has reports whether a node is in the set.
func (n Nodes) Has(number int) bool { return n&(1<<(number-1)) != 0 }

// List lists the numbers of the nodes, in order.
func (n Nodes) List() (numbers []int) {
	for i := range MostNodes {
		if n.Has(i + 1) {
			numbers = append(numbers, i+1)
		}
	}
	return numbers
}

// String names the nodes, such as "n2, n3".
func (n Nodes) String() string {
	var names []string
	for _, i := range n.List() {
		names = append(names, fmt.Sprintf("n%d", i))
	}
	return strings.Join(names, ", ")
}
