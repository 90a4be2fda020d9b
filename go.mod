module github.com/lockproof/lockproof

go 1.26

require (
	github.com/rabbitmq/amqp091-go v1.16.0
	pgregory.net/rapid v1.3.0 // indirect
)
