'use strict';
// The same semaphore with one bug each, of the kind that people really make.

const { Lost, Semaphore, Session } = require('./amqp-locks');

// The confirm is awaited and taken for the answer: the broker confirms what it returns, too.
class ReturnIgnored extends Session {
  exists(queue) {
    return this.command(async (channel) => {
      await this.publish(channel, queue);
      return true;
    });
  }
}

// RESOURCE_LOCKED is taken for "it is there already", as it would be for a queue of one's own.
class LockedIsSuccess extends Session {
  async claim(queue) {
    await super.claim(queue);
    return true;
  }
}

// The channel is closed to release: an exclusive queue is the connection's, and stays.
class ReleaseClosesChannel extends Semaphore {
  async release(slot) {
    if (this.session.held.get(this.name) !== slot) return;
    this.session.held.delete(this.name);
    await this.session.channel.close();
  }
}

// verify connects again when the connection is gone, and does not ask what went with it.
class VerifyReconnects extends Semaphore {
  async verify(slot) {
    if (this.session.held.get(this.name) !== slot) return false;
    try {
      return await this.session.exists(this.a(slot));
    } catch (error) {
      if (!(error instanceof Lost)) throw error;
      await this.session.connect();
      this.session.held.set(this.name, slot);
      return this.session.exists(this.a(slot));
    }
  }
}

// What to run instead of [Session, Semaphore], by the name of the bug.
module.exports = {
  'return-ignored': [ReturnIgnored, Semaphore],
  'locked-is-success': [LockedIsSuccess, Semaphore],
  'release-closes-channel': [Session, ReleaseClosesChannel],
  'verify-reconnects': [Session, VerifyReconnects],
};
