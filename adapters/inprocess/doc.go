// Package inprocess runs clients of a lock that are Go values in this process.
//
// Such a client cannot be killed or suspended as a process can. A simulated crash closes its connections and ignores
// its later messages. A simulated pause holds back its commands at the gate, the proxy between clients and server.
package inprocess
