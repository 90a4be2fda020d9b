// Package doctor asks a RabbitMQ cluster for its configuration, and says which parts of the measured cluster table apply to
// it: which locks two clients held at once, under which fault. It changes nothing: it only declares passively, and sends the
// management interface only GET requests.
//
// No interface tells cluster_partition_handling or consumer_timeout. The user has to state the first.
package doctor
