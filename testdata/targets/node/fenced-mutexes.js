'use strict';
// Mutexes with fencing tokens: a number that grows with every grant, so that what the lock guards can refuse who is late. One
// is right, and one has a bug of the kind that people really make.

const { ExclusiveConsumer } = require('./mutexes');

// FencedConsumer: whoever consumes the lock's queue exclusively holds the lock, and publishes to another queue while it does: how
// many messages that has is the number.
class FencedConsumer extends ExclusiveConsumer {
  async claim(name) {
    const held = await super.claim(name);
    if (held) this.number = await this.draw(`${name}.numbers`);
    return held;
  }

  async draw(numbers) {
    await this.channel.assertQueue(numbers, { durable: true });
    this.channel.sendToQueue(numbers, Buffer.alloc(0), { persistent: true });
    await this.channel.waitForConfirms();
    return (await this.channel.checkQueue(numbers)).messageCount;
  }
}

// The number is that of the confirm, which each channel counts from 1.
class NumberOfConfirm extends FencedConsumer {
  async draw(numbers) {
    const { channel } = this;
    await super.draw(numbers);
    channel.confirms = (channel.confirms ?? 0) + 1;
    return channel.confirms;
  }
}

module.exports = { FencedConsumer, NumberOfConfirm };
