package frame

import "fmt"

// Code is an AMQP reply code, such as 404.
type Code uint16

// String is the code with its name, such as "405 RESOURCE_LOCKED".
func (c Code) String() string { return fmt.Sprintf("%d %s", uint16(c), c.Name()) }

// Error describes invalid input, with the code to close the connection with.
type Error struct {
	Code Code
	Text string // without the name of the code
}

func (e *Error) Error() string { return e.Code.String() + ": " + e.Text }

func errorf(code Code, format string, args ...any) *Error {
	return &Error{code, fmt.Sprintf(format, args...)}
}
