// Package style lays text out for a terminal: lines of coloured spans, tables, and numbers with their nouns.
package style
