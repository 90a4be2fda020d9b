// Package measure measures the operations of locks on real servers, and the time from a holder's death to the next grant.
// The operations are those of one client alone, of many clients with a lock each, and of many that contend for one. A
// server's package makes locks and clients, by [Server], [Lock] and [Client]; the measurements are the same for all.
package measure
