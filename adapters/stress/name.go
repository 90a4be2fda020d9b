package stress

import (
	"crypto/rand"
	"strings"
)

// Lock is the lock's name in histories.
const Lock = "jobs"

// Prefix is what the names of one run's queues begin with on a broker that is shared.
func Prefix() string { return "lockproof." + strings.ToLower(rand.Text()[:10]) + "." }
