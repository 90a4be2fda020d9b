// Package cli is the command line: flags and printing, nothing else. Each command has a file with its name; main.go lists
// the commands, and flags.go has shared flags. The program lockproof is this package alone. lockproof-campaign adds what
// runs campaigns, and lockproof-servers adds the drivers of real servers.
package cli
