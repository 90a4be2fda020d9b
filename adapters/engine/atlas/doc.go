// Package atlas answers the open questions of the locks on a kind of server, which sim/question has: each by visiting every
// execution of small configurations. Then it looks which options no lock can do without, by trying all combinations.
package atlas
