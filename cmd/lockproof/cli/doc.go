// Package cli is the command line: flags and printing, nothing else. Each command has a file of its name; main.go lists them,
// and flags.go has the flags that several share. The program lockproof is this alone,
// lockproof-campaign this with what runs campaigns, lockproof-servers with the drivers of real servers.
package cli
