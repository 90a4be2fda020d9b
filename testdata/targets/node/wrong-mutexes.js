'use strict';
// The same mutexes with one bug each, of the kind that people really make.

const { ActiveConsumer, ExclusiveConsumer, Token } = require('./mutexes');

// The promise is not awaited: whether the broker refuses the consumer is not known when acquire returns.
class NotAwaited extends ExclusiveConsumer {
  async claim(name) {
    await this.channel.assertQueue(this.queue(name), { durable: true });
    this.consume(name, { exclusive: true }).catch(() => {});
    return true;
  }
}

// The consumer is not exclusive: RabbitMQ serves them in turn.
class NotExclusive extends ExclusiveConsumer {
  consume(name) { return super.consume(name, {}); }
}

// Nobody cancels the consumer: the lock stays taken.
class NotCancelled extends ExclusiveConsumer {
  async giveBack() {}
}

// The token is acknowledged as it is fetched: with who holds it, it is gone for good.
class FetchedForGood extends Token {
  async claim(name) {
    if (!await this.made(name) && !await this.make(name)) return false;
    this.token = await this.channel.get(this.queue(name), { noAck: true });
    return Boolean(this.token);
  }

  async giveBack(name) {
    this.channel.sendToQueue(this.queue(name), Buffer.from('token'), { persistent: true });
    await this.channel.waitForConfirms();
  }
}

// The message is acknowledged to release, as one acknowledges what is done.
class Acknowledged extends Token {
  async giveBack(name) {
    this.channel.ack(this.token);
    await this.look(name);
  }
}

// verify tells what it remembers, and nobody listens to the connection.
class FromMemory extends Token {
  async connect() {
    await super.connect();
    this.connection.removeAllListeners('close');
    this.channel.removeAllListeners('close');
  }

  async verify(name) { return this.held === name; }
}

// The consumer that waits is taken for the active one.
class WaitingIsActive extends ActiveConsumer {
  async claim(name) {
    await this.channel.assertQueue(this.queue(name), { durable: true, arguments: { 'x-single-active-consumer': true } });
    ({ consumerTag: this.tag } = await this.channel.consume(this.queue(name), () => {}, { noAck: true }));
    return true;
  }
}

// Who is not the active consumer says so, and goes on waiting: the lock comes later, and nobody knows.
class StaysInLine extends ActiveConsumer {
  async claim(name) {
    this.channel.cancel = async () => {};
    const active = await super.claim(name);
    delete this.channel.cancel;
    return active;
  }
}

module.exports = {
  Acknowledged, FetchedForGood, FromMemory, NotAwaited, NotCancelled, NotExclusive, StaysInLine, WaitingIsActive,
};
