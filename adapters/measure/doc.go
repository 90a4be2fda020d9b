// Package measure puts a clock round the operations of locks on real servers: of one client alone, of many that each use a
// lock of their own, of many that all want one, and from a holder's death to the next grant. How a server makes locks and
// clients is for the server's package to say, by [Server], [Lock] and [Client]; what is done with them is the same for all.
package measure
