package broker

import "fmt"

// Like returns the options for a server by the name that it reports, such as "RabbitMQ 4.0.5". For any other name it
// returns the options of RabbitMQ 3.10.8.
func Like(version string) Options {
	var major, minor int
	if n, _ := fmt.Sscanf(version, "RabbitMQ %d.%d", &major, &minor); n < 2 {
		return Options{}
	}
	twelve := major > 3 || major == 3 && minor >= 12
	return Options{
		TransientRefused: major > 4 || major == 4 && minor >= 3,
		RoutedAtPublish:  major >= 4,
		Four:             major >= 4,
		SuccessorServed:  twelve,
		OwnTimeouts:      twelve,
	}
}
