// Package cli is the command line: flags and printing, nothing else. The program lockproof is this alone,
// lockproof-campaign this with what runs campaigns, lockproof-servers with the drivers of real servers.
package cli
