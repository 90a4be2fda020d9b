'use strict';
// A persistent semaphore on RabbitMQ, after the amqp-locks guidelines, with amqplib.
//
// Slot L of semaphore N is the durable queue N-L-A; whoever holds it has the exclusive queue N-L-B. Both
// have x-max-length 0, so that the messages that ask whether they exist do not pile up.

const amqp = require('amqplib');

const RESOURCE_LOCKED = 405;
const EMPTY = { 'x-max-length': 0 };

// Lost says that the connection is gone, and what was held with it.
class Lost extends Error {}

// Busy says that nothing was done, because others were in the way until the last attempt.
class Busy extends Error {}

// Session is one connection with one channel in confirm mode.
class Session {
  constructor(url) {
    this.url = url;
    this.held = new Map(); // slot by semaphore; good for this connection only
    this.connection = null;
    this.channel = null;
  }

  // connect connects unless connected.
  async connect() {
    if (this.connection) return;
    const connection = await amqp.connect(`${this.url}?heartbeat=0`);
    connection.on('error', () => {}); // close follows
    connection.on('close', () => {
      if (this.connection !== connection) return;
      this.connection = this.channel = null;
      this.held.clear();
    });
    this.connection = connection;
    await this.open();
  }

  // open sees that there is an open channel.
  async open() {
    if (this.channel) return;
    const channel = await this.connection.createConfirmChannel();
    channel.on('error', () => {}); // whoever called is told, and close follows
    channel.on('close', () => {
      if (this.channel === channel) this.channel = null;
    });
    this.channel = channel;
  }

  // command carries out a command. A channel that the broker has closed is opened again, and the command
  // repeated unless it was the reason.
  async command(send) {
    for (let repairs = 2; ; repairs--) {
      if (!this.connection) throw new Lost('the connection to the broker is lost');
      const channel = this.channel;
      try {
        await this.open();
        return await send(this.channel);
      } catch (error) {
        if (!this.connection) throw new Lost(error.message);
        if (error.code === RESOURCE_LOCKED || repairs === 0) throw error;
        if (channel && channel === this.channel) throw error; // it was not the channel's end
      }
    }
  }

  // exists asks by a message that must come back if there is no such queue. This breaks no channel.
  exists(queue) {
    return this.command(async (channel) => {
      let returned = false;
      const onReturn = () => { returned = true; };
      channel.on('return', onReturn); // it comes before the confirm
      try {
        await this.publish(channel, queue);
      } finally {
        channel.off('return', onReturn);
      }
      return !returned;
    });
  }

  // publish sends a probe and waits until it is confirmed.
  publish(channel, queue) {
    return new Promise((resolve, reject) => {
      channel.publish('', queue, Buffer.alloc(0), { mandatory: true }, (error) => (error ? reject(error) : resolve()));
    });
  }

  // claim declares a queue exclusively. It is false if it is another connection's.
  async claim(queue) {
    try {
      await this.command((channel) => channel.assertQueue(queue, { exclusive: true, durable: false, arguments: EMPTY }));
      return true;
    } catch (error) {
      if (error.code !== RESOURCE_LOCKED) throw error;
      return false;
    }
  }

  // delete deletes a queue, unless it is another connection's: then it is not ours to delete any more.
  async delete(queue) {
    try {
      await this.command((channel) => channel.deleteQueue(queue));
    } catch (error) {
      if (error.code !== RESOURCE_LOCKED) throw error;
    }
  }

  declare(queue) {
    return this.command((channel) => channel.assertQueue(queue, { durable: true, arguments: EMPTY }));
  }
}

const MAX_SLOTS = 30; // where looking for slots ends
const CLAIMS = 4; // attempts at slots that somebody else claimed first
const ADMIN_CLAIMS = 4; // attempts at the administration mutex
const POLLS = 4; // looks at a slot that is waited for

// Semaphore is a semaphore as one client sees it: slots are numbered from 1.
class Semaphore {
  constructor(session, name) {
    this.session = session;
    this.name = name;
  }

  a(slot) { return `${this.name}-${slot}-A`; }

  b(slot) { return `${this.name}-${slot}-B`; }

  // acquire is the slot that is now held, or 0 if all are taken.
  async acquire() {
    const { session } = this;
    await session.connect();
    let slot = 1;
    let lost = 0;
    while (slot <= MAX_SLOTS && await session.exists(this.a(slot))) {
      if (await session.exists(this.b(slot))) {
        slot++;
      } else if (await session.claim(this.b(slot))) {
        return this.confirmed(slot);
      } else {
        slot = 1;
        if (++lost === CLAIMS) throw new Busy('every slot that looked free was claimed by others first');
      }
    }
    return 0;
  }

  // confirmed grants a slot, unless it was removed while it was claimed.
  async confirmed(slot) {
    if (!await this.session.exists(this.a(slot))) {
      await this.session.delete(this.b(slot));
      return 0;
    }
    this.session.held.set(this.name, slot);
    return slot;
  }

  // verify tells whether the slot is still held. An answer from the broker on the connection that claimed
  // it means that B is still ours; what is left to ask is whether the slot is still there.
  async verify(slot) {
    if (this.session.held.get(this.name) !== slot) return false;
    try {
      if (await this.session.exists(this.a(slot))) return true;
      await this.release(slot);
    } catch (error) {
      if (!(error instanceof Lost)) throw error;
    }
    return false;
  }

  async release(slot) {
    if (this.session.held.get(this.name) !== slot) return;
    this.session.held.delete(this.name);
    await this.session.delete(this.b(slot));
  }

  create(slots) { return this.administer(() => this.grow(1, slots)); }

  add(slots) {
    return this.administer(async () => {
      const top = await this.count();
      await this.grow(top + 1, top + slots);
    });
  }

  async grow(first, last) {
    for (let slot = first; slot <= last; slot++) await this.session.declare(this.a(slot));
  }

  // remove deletes the last slots, the highest first, so that there is never a hole.
  remove(slots) {
    return this.administer(async () => {
      const top = await this.count();
      for (let slot = top; slot > Math.max(0, top - slots); slot--) await this.session.delete(this.a(slot));
    });
  }

  destroy() { return this.remove(MAX_SLOTS); }

  async count() {
    await this.session.connect();
    let slot = 1;
    while (slot <= MAX_SLOTS && await this.session.exists(this.a(slot))) slot++;
    return slot - 1;
  }

  // wait waits until nobody holds a slot, which should have been removed.
  async wait(slot) {
    await this.session.connect();
    for (let polls = POLLS; polls > 0; polls--) {
      if (!await this.session.exists(this.b(slot))) return;
    }
    throw new Busy(`slot ${slot} is still held`);
  }

  // administer changes slots while nobody else does.
  async administer(change) {
    const { session } = this;
    await session.connect();
    const mutex = `${this.name}-admin`;
    for (let claims = ADMIN_CLAIMS; claims > 0; claims--) {
      if (!await session.claim(mutex)) continue;
      try {
        await change();
      } finally {
        if (session.connection) await session.delete(mutex); // otherwise it went with it
      }
      return;
    }
    throw new Busy('somebody else administers the semaphore');
  }
}

module.exports = { Busy, Lost, Semaphore, Session };
