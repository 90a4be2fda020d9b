// Package codec writes the fields of a value as bytes and reads them back. A type lists its fields once, in order;
// the same code writes and reads them, so that the two cannot differ.
package codec
