'use strict';
// Libraries on Redis, each behind the same few lines: node redis.js LIBRARY. One object is made for each acquire where the library
// says so, and one for all otherwise. Each tries once: nothing waits for a clock of its own.

const { serve } = require('./serve.js');
const Redis = require('ioredis');

const quiet = (client) => client.on('error', () => {});
const ioredis = (url) => quiet(new Redis(url, { retryStrategy: () => 50, enableReadyCheck: false }));
const nodeRedis = async (url) => {
  const client = quiet(require('redis').createClient({ url, disableOfflineQueue: true, socket: { reconnectStrategy: 50 } }));
  await client.connect();
  return client;
};

// redlock is a library of node-redlock's kind: acquire throws where the lock is not to be had.
const redlock = (make, acquire) => (clients) => {
  const lib = make(clients, { retryCount: 0, automaticExtensionThreshold: 0 });
  lib.on('error', () => {});
  return {
    async acquire(name, ttl) {
      try {
        return await acquire(lib, name, ttl);
      } catch (error) {
        if (['ExecutionError', 'LockError'].includes(error.name)) return undefined;
        throw error;
      }
    },
    release: (held) => (held.release ?? held.unlock).call(held),
  };
};

// of is a class of redis-semaphore: an object is made for each acquire.
const of = (Class, several, counts) => (clients) => {
  const lib = require('redis-semaphore');
  return {
    counts,
    async acquire(name, ttl, limit) {
      const o = { lockTimeout: ttl, acquireAttemptsLimit: 1, refreshInterval: 0, acquireTimeout: 1e6 };
      const on = several ? clients : clients[0];
      const held = counts ? new lib[Class](on, name, limit, ...(Class.includes('Multi') ? [1] : []), o) : new lib[Class](on, name, o);
      return await held.tryAcquire() ? held : undefined;
    },
    release: (held) => held.release(),
  };
};

const libraries = {
  'redlock-4': redlock((c, o) => new (require('redlock4'))(c, o), (lib, name, ttl) => lib.lock(name, ttl)),
  'redlock-5': redlock((c, o) => new (require('redlock').default)(c, o), (lib, name, ttl) => lib.acquire([name], ttl)),
  'sesamecare-redlock': redlock((c, o) => new (require('@sesamecare-oss/redlock').Redlock)(c, o), (lib, name, ttl) => lib.acquire([name], ttl)),
  'redis-semaphore-mutex': of('Mutex'),
  'redis-semaphore-semaphore': of('Semaphore', false, true),
  'redis-semaphore-multi': of('MultiSemaphore', false, true),
  'redis-semaphore-redlock-mutex': of('RedlockMutex', true),
  'redis-semaphore-redlock-semaphore': of('RedlockSemaphore', true, true),
  'redis-semaphore-redlock-multi': of('RedlockMultiSemaphore', true, true),
  ioredfour([client]) {
    const lib = new (require('ioredfour'))({ redis: client, namespace: 'four' });
    return {
      async acquire(name, ttl) {
        const held = await lib.acquireLock(name, ttl);
        return held.success ? held : undefined;
      },
      release: (held) => lib.releaseLock(held),
    };
  },
  'node-redis-warlock'([client]) {
    const lib = require('node-redis-warlock')(client);
    return {
      acquire: (name, ttl) => new Promise((resolve, reject) => {
        lib.lock(name, ttl, (error, unlock, id) => (error ? reject(error) : resolve(unlock ? { name, id } : undefined)));
      }),
      release: ({ name, id }) => new Promise((resolve, reject) => lib.unlock(name, id, (error) => (error ? reject(error) : resolve()))),
    };
  },
  'ioredis-lock'([client]) {
    const { createLock, LockAcquisitionError } = require('ioredis-lock');
    return {
      async acquire(name, ttl) {
        const held = createLock(client, { timeout: ttl, retries: 0 });
        try {
          await held.acquire(name);
          return held;
        } catch (error) {
          if (error instanceof LockAcquisitionError) return undefined;
          throw error;
        }
      },
      release: (held) => held.release(),
    };
  },
  async 'simple-redis-mutex'(_, [url]) {
    const { tryLock } = require('simple-redis-mutex');
    const client = await nodeRedis(url);
    return {
      async acquire(name, ttl) {
        const [held, release] = await tryLock(client, name, { timeoutMillis: ttl });
        return held ? release : undefined;
      },
      release: (release) => release(),
    };
  },
  'redlock-universal': (clients) => universal((lib, adapters, o) => lib.createLock({ adapter: adapters[0], ...o }), clients),
  'redlock-universal-redlock': (clients) => universal((lib, adapters, o) => lib.createRedlock({ adapters, ...o }), clients),
};

// universal is a lock of redlock-universal: one object for each name.
function universal(make, clients) {
  const lib = require('redlock-universal');
  const adapters = clients.map((c) => new lib.IoredisAdapter(c));
  return {
    async acquire(name, ttl) {
      const lock = make(lib, adapters, { key: name, ttl, retryAttempts: 0, circuitBreaker: false });
      try {
        return { lock, handle: await lock.acquire() };
      } catch (error) {
        if (error instanceof lib.LockAcquisitionError) return undefined;
        throw error;
      }
    },
    release: ({ lock, handle }) => lock.release(handle),
  };
}

const name = process.argv[2];
let library;
const held = new Map();
serve({
  async initialize({ url, urls = [url] }) {
    library = await libraries[name](urls.map(ioredis), urls);
    const type = library.counts ? { locks: ['semaphore'], limits: true } : { locks: ['mutex'] };
    return { name, ...type, operations: ['acquire', 'release'], leases: true };
  },
  async acquire({ name, ttl = 60000, limit }) {
    const got = await library.acquire(name, ttl, limit);
    if (got === undefined) return { held: false };
    held.set(name, got);
    return { held: true, slot: 1 };
  },
  async release({ name }) {
    const got = held.get(name);
    held.delete(name);
    if (got !== undefined) await library.release(got);
  },
});
