// Package measure measures the operations of locks on real servers, and the time from a holder's crash until another
// client acquires the lock. It measures one client alone, many clients with a lock each, and many clients that
// contend for one lock. Each kind of server implements [Server], [Lock] and [Client]; the measurements are the same
// for all.
package measure
