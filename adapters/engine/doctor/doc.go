// Package doctor asks a RabbitMQ cluster for its configuration. It then says which parts of the measured cluster table
// apply: under which fault two clients held which lock at once. It changes nothing on the cluster. Over AMQP it only
// declares passively, and to the management interface it only sends GET requests.
//
// No interface reveals cluster_partition_handling or consumer_timeout. The user has to state the first.
package doctor
