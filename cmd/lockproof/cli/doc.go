// Package cli is the command line. It contains only flags and printing. Each command has a file with its name; main.go
// lists the commands, and flags.go has shared flags. The program lockproof is this package alone. The program
// lockproof-campaign adds the code that runs campaigns, and lockproof-servers adds the drivers of real servers.
package cli
