// Package cli is the command line: flags and printing, nothing else. The programs lockproof and lockproof-campaign are
// this, without and with what runs campaigns.
package cli
