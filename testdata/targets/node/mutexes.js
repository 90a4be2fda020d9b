'use strict';
// Mutexes on RabbitMQ of several designs, with amqplib. Each is one client's: it holds one lock at most.
//
// Whatever goes wrong that is no answer, the connection is given up, and with it what it holds.

const { randomUUID } = require('node:crypto');
const { setTimeout: sleep } = require('node:timers/promises');
const amqp = require('amqplib');

const ACCESS_REFUSED = 403;
const NOT_FOUND = 404;
const RESOURCE_LOCKED = 405;
const PATIENCE = 20; // milliseconds until a message that should have come is not coming

// Client is a connection with a channel, and the lock that is held by it.
class Client {
  constructor(url) {
    this.url = url;
    this.connection = this.channel = this.held = null;
  }

  async acquire(name) {
    await this.giveUpIfItFails(async () => {
      await this.connect();
      if (await this.claim(name)) this.held = name;
    });
    return this.held === name;
  }

  async verify(name) {
    if (this.held !== name) return false;
    await this.giveUpIfItFails(() => this.look(name)).catch(() => {}); // then it is lost
    return this.held === name;
  }

  async release(name) {
    if (this.held !== name) return;
    this.held = null;
    await this.giveUpIfItFails(() => this.giveBack(name)).catch(() => {}); // the broker frees it
  }

  async giveUpIfItFails(ask) {
    try {
      await ask();
    } catch (error) {
      const { connection } = this;
      this.connection = this.held = null;
      await connection?.close().catch(() => {}); // or it is closed already
      throw error;
    }
  }

  // connect connects unless connected. What was held went with the old connection.
  async connect() {
    if (!this.connection) {
      this.held = null;
      const connection = await amqp.connect(`${this.url}?heartbeat=0`);
      connection.on('error', () => {}); // close follows
      connection.on('close', () => {
        if (this.connection === connection) this.connection = this.held = null;
      });
      this.connection = connection;
      this.channel = null;
    }
    if (!this.channel) await this.open();
  }

  async open() {
    const channel = await this.connection.createConfirmChannel();
    channel.on('error', () => {}); // whoever called is told
    channel.on('close', () => {
      if (this.channel === channel) this.channel = this.held = null; // with all that was held by it
    });
    this.channel = channel;
  }

  // accepted is false if the broker says no to a command, by closing the channel with a code.
  async accepted(code, command) {
    try {
      await command();
      return true;
    } catch (error) {
      if (error.code !== code) throw error;
      await this.open();
      return false;
    }
  }

  // look asks something to which only an open channel gives an answer: then it has what it had.
  look(name) { return this.channel.checkQueue(this.queue(name)); }
}

// ExclusiveConsumer: whoever consumes the lock's queue exclusively holds the lock.
class ExclusiveConsumer extends Client {
  queue(name) { return `${name}.lock`; }

  async claim(name) {
    await this.channel.assertQueue(this.queue(name), { durable: true });
    return this.accepted(ACCESS_REFUSED, () => this.consume(name, { exclusive: true }));
  }

  async consume(name, options) {
    ({ consumerTag: this.tag } = await this.channel.consume(this.queue(name), () => {}, { noAck: true, ...options }));
  }

  giveBack() { return this.channel.cancel(this.tag); }
}

// Token: whoever has the only message of a queue, unacknowledged, holds the lock. Queue and message last; the first
// client makes them while it has an exclusive queue, and a third queue, made last, says that they are complete.
class Token extends Client {
  queue(name) { return `${name}.token`; }

  async claim(name) {
    if (!await this.made(name) && !await this.make(name)) return false;
    this.token = await this.channel.get(this.queue(name));
    return Boolean(this.token);
  }

  made(name) { return this.accepted(NOT_FOUND, () => this.channel.checkQueue(`${name}.made`)); }

  async make(name) {
    const guard = `${name}.making`;
    if (!await this.accepted(RESOURCE_LOCKED, () => this.channel.assertQueue(guard, { exclusive: true, durable: false }))) return false;
    if (!await this.made(name)) await this.fill(name); // nobody has made it meanwhile
    await this.channel.deleteQueue(guard);
    return true;
  }

  async fill(name) {
    await this.channel.assertQueue(this.queue(name), { durable: true });
    await this.channel.purgeQueue(this.queue(name));
    this.channel.sendToQueue(this.queue(name), Buffer.from('token'), { persistent: true });
    await this.channel.waitForConfirms();
    await this.channel.assertQueue(`${name}.made`, { durable: true });
  }

  // giveBack puts it back; the answer to what is asked next says that it has been.
  async giveBack(name) {
    this.channel.nack(this.token);
    await this.look(name);
  }
}

// ActiveConsumer: the single active consumer of the lock's queue holds the lock. RabbitMQ tells nobody that it has become
// that, so who claims the lock publishes a message, which comes to itself only if it is.
class ActiveConsumer extends Client {
  queue(name) { return `${name}.active`; }

  async claim(name) {
    await this.channel.assertQueue(this.queue(name), { durable: true, arguments: { 'x-single-active-consumer': true } });
    for (;;) {
      const mine = randomUUID();
      let arrived;
      const echo = new Promise((resolve) => { arrived = resolve; });
      const take = (message) => { if (message?.properties.messageId === mine) arrived(true); };
      ({ consumerTag: this.tag } = await this.channel.consume(this.queue(name), take, { noAck: true }));
      this.channel.sendToQueue(this.queue(name), Buffer.alloc(0), { messageId: mine });
      await this.channel.waitForConfirms();
      if (await Promise.race([echo, sleep(PATIENCE, false)])) return true;
      await this.channel.cancel(this.tag);
      // One whose message comes when it has given up could have had the lock, and tries again.
      if (!await Promise.race([echo, sleep(0, false)])) return false;
    }
  }

  giveBack() { return this.channel.cancel(this.tag); }
}

module.exports = { ActiveConsumer, ExclusiveConsumer, Token };
