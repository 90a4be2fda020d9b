'use strict';
// A mutex on Redis with ioredis: a key with a token of its own, which expires. On several servers it is held by most of them.

const { randomUUID } = require('node:crypto');
const Redis = require('ioredis');

const IS_OURS = 'return redis.call("get", KEYS[1]) == ARGV[1] and 1 or 0';
const DELETE_OURS = 'return redis.call("get", KEYS[1]) == ARGV[1] and redis.call("del", KEYS[1]) or 0';

class Lease {
  constructor(urls) {
    // A command whose reply is lost may have been carried out: whoever called is told, and it is not sent again.
    this.servers = urls.map((url) => new Redis(url, { maxRetriesPerRequest: 0, autoResendUnfulfilledCommands: false, retryStrategy: () => 10 }));
    for (const server of this.servers) server.on('error', () => {}); // whoever called is told
    this.enough = Math.floor(this.servers.length / 2) + 1;
    this.token = null;
  }

  // onMost has all servers asked, and is true if enough of them say yes. If that stays open, it fails.
  async onMost(ask) {
    const answers = await Promise.allSettled(this.servers.map(ask));
    if (answers.filter(({ value }) => value).length >= this.enough) return true;
    const unanswered = answers.find(({ status }) => status === 'rejected');
    if (unanswered) throw unanswered.reason;
    return false;
  }

  async acquire(name, ttl) {
    this.token = randomUUID();
    if (await this.onMost((server) => this.claim(server, name, ttl))) return true;
    await this.release(name); // of those servers that said yes
    return false;
  }

  claim(server, name, ttl) { return server.set(name, this.token, 'PX', ttl, 'NX'); }

  verify(name) { return this.onMost((server) => server.eval(IS_OURS, 1, name, this.token)); }

  async release(name) { await Promise.all(this.servers.map((server) => this.giveBack(server, name))); }

  giveBack(server, name) { return server.eval(DELETE_OURS, 1, name, this.token); }
}

// The same with one bug each, of the kind that people really make.

// Whoever releases deletes the key: after the lease has ended it is somebody else's.
class DeletesAnybodys extends Lease {
  giveBack(server, name) { return server.del(name); }
}

// The token is compared before the key is deleted: in between the lease may end, and somebody else acquire.
class ComparesFirst extends Lease {
  async giveBack(server, name) {
    if (await server.get(name) === this.token) await server.del(name);
  }
}

// It is looked whether the lock is free, and then it is taken.
class LooksFirst extends Lease {
  async claim(server, name, ttl) {
    return await server.get(name) === null && server.set(name, this.token, 'PX', ttl);
  }
}

// The lease is set by a command of its own: if the client dies before that, nobody gets the lock again.
class ExpiresLater extends Lease {
  async claim(server, name, ttl) {
    return await server.setnx(name, this.token) === 1 && server.pexpire(name, ttl);
  }
}

// Half of the servers are enough.
class HalfIsEnough extends Lease {
  constructor(urls) {
    super(urls);
    this.enough = Math.max(1, Math.floor(urls.length / 2));
  }
}

module.exports = { ComparesFirst, DeletesAnybodys, ExpiresLater, HalfIsEnough, Lease, LooksFirst };
