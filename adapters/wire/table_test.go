package wire_test

import (
	. "github.com/lockproof/lockproof/adapters/wire/frame"
)

// x is a publish to a queue, and with returns one that comes back if there is none.
var (
	declareX   = &QueueDeclare{Queue: "$x"}
	exclusiveX = &QueueDeclare{Queue: "$x", Exclusive: true}
	durableX   = &QueueDeclare{Queue: "$x", Durable: true}
	deleteX    = &QueueDelete{Queue: "$x"}
	passiveX   = &QueueDeclare{Queue: "$x", Passive: true}
	publishX   = &BasicPublish{RoutingKey: "$x"}
	probeX     = &BasicPublish{RoutingKey: "$x", Mandatory: true}
	again      = &ChannelOpen{}
)

func with(name string, value any) Table { return Table{}.With(name, value) }

func body(s string) *Content { return &Content{Body: []byte(s)} }

var acked = []ID{BasicAckID, BasicNackID}

// scripts is what clients see: one row for each thing that a broker may do otherwise.
var scripts = []script{
	{"declare, probe, declare again, delete", []step{
		{who: "a1", method: &ConfirmSelect{}},
		{who: "a1", method: declareX},
		{who: "a1", method: probeX, content: body("1"), wait: acked},
		{who: "a1", method: probeX, content: body("2"), wait: acked},
		{who: "a1", method: declareX},
		{who: "a1", method: passiveX},
		{who: "a1", method: &QueuePurge{Queue: "$x"}},
		{who: "a1", method: deleteX},
		{who: "a1", method: deleteX},
		{who: "a1", method: probeX, content: body("returned"), wait: acked},
		{who: "a1", method: &ChannelClose{ReplyCode: 200}},
	}},
	{"another connection's exclusive queue", []step{
		{who: "a1", method: exclusiveX},
		{who: "b1", method: exclusiveX},
		{who: "b1", method: declareX},
		{who: "b1", method: passiveX},
		{who: "b1", method: deleteX},
		{who: "b1", method: &QueuePurge{Queue: "$x"}},
		{who: "b1", method: &BasicGet{Queue: "$x"}},
		{who: "b1", method: &BasicConsume{Queue: "$x"}},
		{who: "b1", method: &QueueBind{Queue: "$x", Exchange: "amq.direct", RoutingKey: "k"}},
		{who: "b1", method: &QueueUnbind{Queue: "$x", Exchange: "amq.direct", RoutingKey: "k"}},
		{who: "a1", method: exclusiveX},
		{who: "a2", method: exclusiveX},
		{who: "a1", method: declareX},
		{who: "a1", method: &QueueDeclare{Queue: "$x", Exclusive: true, AutoDelete: true}},
	}},
	{"a queue that does not exist", []step{
		{who: "a1", method: passiveX},
		{who: "a1", method: &QueuePurge{Queue: "$x"}},
		{who: "a1", method: &BasicGet{Queue: "$x"}},
		{who: "a1", method: &BasicConsume{Queue: "$x"}},
		{who: "a1", method: &QueueBind{Queue: "$x", Exchange: "amq.direct", RoutingKey: "k"}},
		{who: "a1", method: &QueueUnbind{Queue: "$x", Exchange: "amq.direct", RoutingKey: "k"}},
		{who: "a1", method: &QueueDelete{Queue: "$x", IfEmpty: true}},
	}},
	{"no queue's name", []step{
		{who: "a1", method: &QueueDeclare{Passive: true}},
		{who: "a1", method: &QueueDelete{}},
		{who: "a1", method: &QueuePurge{}},
		{who: "a1", method: &BasicGet{}},
		{who: "a1", method: &BasicConsume{}},
		{who: "a1", method: &QueueBind{Exchange: "amq.direct", RoutingKey: "k"}},
		{who: "a1", method: declareX},
		{who: "a1", method: &QueueDeclare{Passive: true}},
		{who: "a1", method: declareX},
		{who: "a1", method: publishX, content: body("1")},
		{who: "a1", method: &BasicGet{NoAck: true}},
		{who: "a1", method: &QueuePurge{}},
		{who: "a1", method: &QueueDelete{}},
	}},
	{"the broker's own names", []step{
		{who: "a1", method: &QueueDeclare{Queue: "amq.mine"}},
		{who: "a1", method: &QueueDeclare{Queue: "amq.mine", Passive: true}},
		{who: "a1", method: &ExchangeDeclare{Exchange: "amq.mine", Type: "direct"}},
	}},
	{"other arguments", []step{
		{who: "a1", method: durableX},
		{who: "a1", method: declareX},
		{who: "a1", method: &QueueDeclare{Queue: "$x", Durable: true, AutoDelete: true}},
		{who: "a1", method: &QueueDeclare{Queue: "$x", Durable: true, Exclusive: true}},
		{who: "a1", method: &QueueDeclare{Queue: "$x", Durable: true, Arguments: with("x-max-length", int32(5))}},
		{who: "a1", method: &QueueDeclare{Queue: "$x", Durable: true, Arguments: with("x-overflow", "reject-publish")}},
		{who: "a1", method: &QueueDeclare{Queue: "$x", Durable: true, Arguments: with("x-unheard-of", true)}},
		{who: "a1", method: deleteX},
	}},
	{"other values of arguments", []step{
		{who: "a1", method: &QueueDeclare{Queue: "$x", Arguments: with("x-max-length", int32(5)).With("x-overflow", "drop-head")}},
		{who: "a1", method: &QueueDeclare{Queue: "$x", Arguments: with("x-max-length", int64(5)).With("x-overflow", "drop-head")}},
		{who: "a1", method: &QueueDeclare{Queue: "$x", Arguments: with("x-max-length", int32(6)).With("x-overflow", "drop-head")}},
		{who: "a1", method: &QueueDeclare{Queue: "$x", Arguments: with("x-max-length", int32(5)).With("x-overflow", "reject-publish")}},
		{who: "a1", method: declareX},
		{who: "a1", method: deleteX},
	}},
	{"bad values of arguments", []step{
		{who: "a1", method: &QueueDeclare{Queue: "$x", Arguments: with("x-expires", int32(0))}},
		{who: "a1", method: &QueueDeclare{Queue: "$x", Arguments: with("x-expires", int32(-1))}},
		{who: "a1", method: &QueueDeclare{Queue: "$x", Arguments: with("x-expires", "soon")}},
		{who: "a1", method: &QueueDeclare{Queue: "$x", Arguments: with("x-expires", int64(1)<<40)}},
		{who: "a1", method: &QueueDeclare{Queue: "$x", Arguments: with("x-max-length", int32(-1))}},
		{who: "a1", method: &QueueDeclare{Queue: "$x", Arguments: with("x-max-length", "many")}},
		{who: "a1", method: &QueueDeclare{Queue: "$x", Arguments: with("x-message-ttl", int32(-1))}},
		{who: "a1", method: &QueueDeclare{Queue: "$x", Arguments: with("x-overflow", "sideways")}},
		{who: "a1", method: &QueueDeclare{Queue: "$x", Arguments: with("x-overflow", int32(1))}},
	}},
	{"delete if", []step{
		{who: "a1", method: &ConfirmSelect{}},
		{who: "a1", method: declareX},
		{who: "a1", method: publishX, content: body("1"), wait: acked},
		{who: "a1", method: &QueueDelete{Queue: "$x", IfEmpty: true}},
		{who: "a1", method: &BasicConsume{Queue: "$x", ConsumerTag: "c"}, wait: []ID{BasicDeliverID}},
		{who: "a1", method: &QueueDelete{Queue: "$x", IfUnused: true}},
		{who: "a1", method: deleteX},
	}},
	{"reject-publish", []step{
		{who: "a1", method: &ConfirmSelect{}},
		{who: "a1", method: &QueueDeclare{Queue: "$x", Arguments: with("x-max-length", int32(0)).With("x-overflow", "reject-publish")}},
		{who: "a1", method: probeX, content: body("1"), wait: acked},
		{who: "a1", method: deleteX},
		{who: "a2", method: &TxSelect{}},
		{who: "a2", method: &QueueDeclare{Queue: "$x", Arguments: with("x-max-length", int32(0)).With("x-overflow", "reject-publish")}},
		{who: "a2", method: publishX, content: body("1")},
		{who: "a2", method: &TxCommit{}},
		{who: "a2", method: deleteX},
	}},
	{"get and settle", []step{
		{who: "a1", method: &ConfirmSelect{}},
		{who: "a1", method: declareX},
		{who: "a1", method: &BasicGet{Queue: "$x"}},
		{who: "a1", method: publishX, content: &Content{Properties: Properties{Has: HasDeliveryMode | HasExpiration, DeliveryMode: 2, Expiration: "60000"}, Body: []byte("one")}, wait: acked},
		{who: "a1", method: publishX, content: body("two"), wait: acked},
		{who: "a1", method: &BasicGet{Queue: "$x"}},
		{who: "a1", method: &BasicGet{Queue: "$x"}},
		{who: "a1", method: &BasicAck{DeliveryTag: 1}},
		{who: "a1", method: &BasicReject{DeliveryTag: 2, Requeue: true}},
		{who: "a1", method: &BasicQos{PrefetchCount: 1}},
		{who: "a1", method: &BasicGet{Queue: "$x"}},
		{who: "a1", method: &BasicNack{DeliveryTag: 3, Multiple: true, Requeue: true}},
		{who: "a1", method: &BasicQos{PrefetchCount: 1}},
		{who: "a1", method: &BasicGet{Queue: "$x"}},
		{who: "a1", method: &BasicRecover{Requeue: true}},
		{who: "a1", method: &BasicGet{Queue: "$x"}},
		{who: "a1", method: &BasicAck{DeliveryTag: 99}, wait: []ID{ChannelCloseID}},
		{who: "a1", method: &BasicNack{DeliveryTag: 98}, wait: []ID{ChannelCloseID}},
		{who: "a1", method: &BasicReject{DeliveryTag: 97}, wait: []ID{ChannelCloseID}},
		{who: "a1", method: &BasicAck{DeliveryTag: 0, Multiple: true}},
		{who: "a1", method: &BasicAck{DeliveryTag: 0}, wait: []ID{ChannelCloseID}},
		{who: "a1", method: &QueueDelete{Queue: "$x", NoWait: true}},
		{who: "a1", method: &BasicQos{}},
	}},
	{"consume", []step{
		{who: "a1", method: &ConfirmSelect{}},
		{who: "a1", method: declareX},
		{who: "b1", method: &BasicConsume{Queue: "$x", ConsumerTag: "c"}},
		{who: "a1", method: passiveX},
		{who: "a1", method: publishX, content: body("one"), wait: acked},
		{who: "b1", method: &BasicAck{DeliveryTag: 1}, wait: []ID{BasicDeliverID}},
		{who: "b1", method: &BasicCancel{ConsumerTag: "c"}},
		{who: "b1", method: &BasicCancel{ConsumerTag: "c"}},
		{who: "a1", method: &BasicConsume{Queue: "$x", ConsumerTag: "e", Exclusive: true}},
		{who: "b1", method: &BasicConsume{Queue: "$x", ConsumerTag: "c"}},
		{who: "b1", method: &BasicConsume{Queue: "$x", ConsumerTag: "c", Exclusive: true}},
		{who: "a1", method: &BasicCancel{ConsumerTag: "e"}},
		{who: "b1", method: &BasicConsume{Queue: "$x", ConsumerTag: "d", NoAck: true}},
		{who: "a1", method: deleteX},
		{who: "b1", method: &BasicQos{}},
	}},
	{"a consumer's tag twice", []step{
		{who: "a1", method: exclusiveX},
		{who: "a1", method: &BasicConsume{Queue: "$x", ConsumerTag: "c"}},
		{who: "a1", method: &BasicConsume{Queue: "$x", ConsumerTag: "c"}},
	}},
	{"an auto-deleted queue", []step{
		{who: "a1", method: &QueueDeclare{Queue: "$x", AutoDelete: true}},
		{who: "a1", method: &BasicConsume{Queue: "$x", ConsumerTag: "c"}},
		{who: "a1", method: &BasicCancel{ConsumerTag: "c"}},
		{who: "a1", method: passiveX},
	}},
	{"transactions", []step{
		{who: "a1", method: &TxSelect{}},
		{who: "a1", method: declareX},
		{who: "a1", method: &TxSelect{}},
		{who: "a1", method: publishX, content: body("1")},
		{who: "a1", method: passiveX},
		{who: "a1", method: &TxCommit{}},
		{who: "a1", method: passiveX},
		{who: "a1", method: publishX, content: body("2")},
		{who: "a1", method: &TxRollback{}},
		{who: "a1", method: passiveX},
		{who: "a1", method: &BasicPublish{RoutingKey: "$nowhere", Mandatory: true}, content: body("returned")},
		{who: "a1", method: publishX, content: body("kept")},
		{who: "a1", method: &BasicPublish{RoutingKey: "$nowhere", Mandatory: true}, content: body("too")},
		{who: "a1", method: &TxCommit{}},
		{who: "a1", method: passiveX},
		{who: "a1", method: deleteX},
		{who: "a1", method: &ConfirmSelect{}},
		{who: "a1", method: &ConfirmSelect{}},
		{who: "a1", method: &TxSelect{}},
		{who: "a1", method: &TxCommit{}},
		{who: "a1", method: &TxRollback{}},
	}},
	{"a mandatory message without confirms", []step{
		{who: "a1", method: probeX, content: body("back"), wait: []ID{BasicReturnID}},
		{who: "a1", method: &BasicQos{}},
	}},
	{"without waiting", []step{
		{who: "a1", method: &QueueDeclare{Queue: "$x", NoWait: true}},
		{who: "a1", method: &ConfirmSelect{Nowait: true}},
		{who: "a1", method: publishX, content: body("1"), wait: acked},
		{who: "a1", method: &BasicConsume{Queue: "$x", ConsumerTag: "c", NoWait: true}, wait: []ID{BasicDeliverID}},
		{who: "a2", method: passiveX},
		{who: "b2", method: deleteX},
	}},
	{"a long body", []step{
		{who: "a1", method: &ConfirmSelect{}},
		{who: "a1", method: exclusiveX},
		{who: "a1", method: publishX, content: &Content{Body: make([]byte, 1<<20)}, wait: acked},
		{who: "a1", method: &BasicGet{Queue: "$x", NoAck: true}},
		{who: "a1", method: publishX, content: &Content{}, wait: acked},
		{who: "a1", method: &BasicGet{Queue: "$x", NoAck: true}},
	}},
	{"a long name", []step{
		{who: "a1", method: &QueueDeclare{Queue: longName, Passive: true}},
	}},
	{"exchanges that are there", []step{
		{who: "a1", method: &ExchangeDeclare{Exchange: "amq.direct", Type: "direct", Passive: true}},
		{who: "a1", method: &ExchangeDeclare{Exchange: "amq.topic", Type: "topic", Passive: true}},
		{who: "a1", method: &ExchangeDeclare{Exchange: "amq.direct", Type: "direct", Durable: true}},
		{who: "a1", method: &ExchangeDeclare{Exchange: "", Type: "direct", Passive: true}},
		{who: "a1", method: &ExchangeDeclare{Exchange: "", Type: "direct"}},
		{who: "a1", method: &ExchangeDelete{Exchange: ""}},
		{who: "a1", method: &ExchangeDelete{Exchange: "amq.direct"}},
		{who: "a1", method: &ExchangeDelete{Exchange: "$nowhere"}},
		{who: "a1", method: &ExchangeDeclare{Exchange: "$nowhere", Type: "direct", Passive: true}},
		{who: "a1", method: &ExchangeBind{Destination: "$nowhere", Source: "amq.direct"}},
		{who: "a1", method: &ExchangeBind{Destination: "", Source: "amq.direct"}},
	}},
	{"bindings", []step{
		{who: "a1", method: exclusiveX},
		{who: "a1", method: &QueueBind{Queue: "$x", Exchange: "amq.direct", RoutingKey: "k"}},
		{who: "a1", method: &QueueUnbind{Queue: "$x", Exchange: "amq.direct", RoutingKey: "k"}},
		{who: "a1", method: &QueueUnbind{Queue: "$x", Exchange: "amq.direct", RoutingKey: "k"}},
		{who: "a1", method: &QueueBind{Queue: "$x", Exchange: "", RoutingKey: "k"}},
		{who: "a1", method: &QueueUnbind{Queue: "$x", Exchange: "", RoutingKey: "k"}},
		{who: "a1", method: &QueueBind{Queue: "$x", Exchange: "$nowhere", RoutingKey: "k"}},
		{who: "a1", method: &QueueUnbind{Queue: "$x", Exchange: "$nowhere", RoutingKey: "k"}},
	}},
	{"publishing to no exchange", []step{
		{who: "a1", method: &BasicPublish{Exchange: "$nowhere", RoutingKey: "k"}, content: body("1"), wait: []ID{ChannelCloseID}},
	}},
	{"publishing at once", []step{
		{who: "a1", method: &BasicPublish{RoutingKey: "k", Immediate: true}, content: body("1"), wait: []ID{ChannelCloseID}},
	}},
	{"a bad expiration", []step{
		{who: "a1", method: publishX, content: &Content{Properties: Properties{Has: HasExpiration, Expiration: "soon"}}, wait: []ID{ChannelCloseID}},
		{who: "a1", method: publishX, content: &Content{Properties: Properties{Has: HasExpiration, Expiration: "-1"}}, wait: []ID{ChannelCloseID}},
		{who: "a1", method: publishX, content: &Content{Properties: Properties{Has: HasExpiration, Expiration: "1 "}}, wait: []ID{ChannelCloseID}},
		{who: "a1", method: publishX, content: &Content{Properties: Properties{Has: HasExpiration, Expiration: "4294967296"}}}, {who: "a1", method: &BasicQos{}},
	}},
	{"somebody else's user-id", []step{
		{who: "a1", method: publishX, content: &Content{Properties: Properties{Has: HasUserID, UserID: "guest"}}},
		{who: "a1", method: &BasicQos{}},
		{who: "a1", method: publishX, content: &Content{Properties: Properties{Has: HasUserID, UserID: "root"}}, wait: []ID{ChannelCloseID}},
	}},
	{"recover without requeueing", []step{{who: "a1", method: &BasicRecover{}}}},
	{"qos by size", []step{{who: "a1", method: &BasicQos{PrefetchSize: 10}}}},
	{"flow off", []step{{who: "a1", method: &ChannelFlow{Active: true}}, {who: "a1", method: &ChannelFlow{Active: false}}}},
	{"a channel that is not open", []step{{who: "a3!", method: declareX}}},
	{"a channel opened twice", []step{{who: "a1", method: again}, {who: "a1", method: again}}},
	{"a channel used after it was closed", []step{
		{who: "a1", method: &ChannelClose{ReplyCode: 200}}, {who: "a1", method: passiveX},
	}},
	{"a server's method", []step{{who: "a1", method: &QueueDeclareOk{Queue: "$x"}, wait: []ID{ConnectionCloseID}}}},
	{"a channel's method on channel 0", []step{{who: "a0", method: declareX, wait: []ID{ConnectionCloseID}}}},
	{"a connection's method on a channel", []step{{who: "a1", method: &ConnectionOpen{VirtualHost: "/"}, wait: []ID{ConnectionCloseID}}}},
	{"open twice", []step{{who: "a0", method: &ConnectionOpen{VirtualHost: "/"}, wait: []ID{ConnectionCloseID}}}},
	{"closing the connection", []step{{who: "a1", method: exclusiveX}, {who: "a0", method: &ConnectionClose{ReplyCode: 200}}, {who: "b1", method: passiveX}}},
}

// unsupported is what a real broker takes and the simulated one refuses.
var unsupported = []script{
	{"a new secret", []step{{who: "a0", method: &ConnectionUpdateSecret{NewSecret: "s", Reason: "r"}}}},
	{"an exchange", []step{{who: "a1", method: &ExchangeDeclare{Exchange: "$x", Type: "direct"}}}},
	{"an exchange bound to another", []step{{who: "a1", method: &ExchangeBind{Destination: "amq.topic", Source: "amq.direct"}}}},
	{"publishing to an exchange", []step{{who: "a1", method: &BasicPublish{Exchange: "amq.direct"}, wait: []ID{ConnectionCloseID}}}},
	{"a quorum queue", []step{{who: "a1", method: &QueueDeclare{Queue: "$x", Durable: true, Arguments: with("x-queue-type", "quorum")}}}},
	{"dead letters", []step{{who: "a1", method: &QueueDeclare{Queue: "$x", Arguments: with("x-dead-letter-exchange", "")}}}},
	{"a prefetch count for a channel", []step{{who: "a1", method: &BasicQos{PrefetchCount: 1, Global: true}}}},
	{"recovering in a transaction", []step{{who: "a1", method: &TxSelect{}}, {who: "a1", method: &BasicRecover{Requeue: true}}}},
	{"names that the broker makes up", []step{
		{who: "a1", method: &QueueDeclare{Exclusive: true}}, {who: "a1", method: &BasicConsume{}},
		{who: "a1", method: &ConnectionUpdateSecret{}, wait: []ID{ConnectionCloseID}}, {who: "b0", method: &ConnectionUpdateSecret{}},
	}},
}

var longName = func() string {
	b := make([]byte, 255)
	for i := range b {
		b[i] = 'n'
	}
	return string(b)
}()
