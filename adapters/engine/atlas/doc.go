// Package atlas answers the open questions that a text leaves about the locks on a kind of server. The questions stand in
// sim/*/questions.go, in the form that sim/question has. Each is answered by visiting every execution of small
// configurations. Then all combinations of options are tried, to see which options no lock can do without.
package atlas
