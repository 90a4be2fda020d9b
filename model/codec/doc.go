// Package codec writes the fields of a value as bytes and reads them back. A type says once which
// fields it has, in what order; the same lines then write it and read it, so that the two can't drift
// apart.
package codec
