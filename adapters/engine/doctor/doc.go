// Package doctor asks a RabbitMQ what it is, and says what of the table of clusters concerns it: which locks two clients
// held at once, under which fault. It only asks. It declares nothing but passively, and sends the management interface
// nothing but GET.
//
// No interface tells cluster_partition_handling or consumer_timeout; the first has to be named.
package doctor
