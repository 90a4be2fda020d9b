'use strict';
// Libraries on Redis, each behind the same few lines: node redis.js LIBRARY. One object is made for each acquire where the library
// says so, and one for all otherwise. Each tries once: nothing waits for a clock of its own.

const { judge } = require('./judge.js');
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
  // It waits for as long as it takes: what comes after the first attempt would come in a month.
  async 'redis-lock'(_, [url]) {
    const client = await nodeRedis(url);
    const month = 2 ** 31 - 1;
    return {
      acquire: (name, ttl) => new Promise((resolve, reject) => {
        const set = async (...call) => {
          try {
            const result = await client.set(...call);
            if (result === null) resolve(undefined);
            return result;
          } catch (error) {
            reject(error);
            throw error;
          }
        };
        require('redis-lock')({ v4: {}, set, del: (key) => client.del(key) }, month)(name, ttl).then(resolve);
      }),
      release: (release) => release(),
    };
  },
  // Its service is of a framework, NestJS; a decorator calls lock and unlock with an identifier for each call, as here.
  async murlock(_, [url]) {
    require('@nestjs/common').Logger.overrideLogger(false); // it speaks on standard output
    const { MurLockService } = require('murlock');
    const options = { redisOptions: { url }, wait: 1, maxAttempts: 1, logLevel: 'error' };
    const lib = new MurLockService(options, undefined);
    await lib.onModuleInit();
    return {
      async acquire(name, ttl) {
        const id = require('node:crypto').randomUUID();
        try {
          await lib.lock(name, ttl, id);
          return { name, id };
        } catch (error) {
          if (/Failed to obtain lock/.test(error.message)) return undefined;
          throw error;
        }
      },
      release: ({ name, id }) => lib.unlock(name, id),
    };
  },
  async 'microfleet-ioredis-lock'([client]) {
    const { createLock, LockAcquisitionError } = await import('@microfleet/ioredis-lock');
    return {
      async acquire(name, ttl) {
        const held = createLock(client, { timeout: ttl, retries: 0 });
        try {
          return await held.acquire(name);
        } catch (error) {
          if (error instanceof LockAcquisitionError && /^Could not/.test(error.message)) return undefined;
          throw error;
        }
      },
      release: (held) => held.release(),
    };
  },
  async 'redis-promise-lock'(_, [url]) {
    const lib = new (require('redis-promise-lock').Lock)(await nodeRedis(url), { retryLimit: 1, retryDelay: 1 });
    return {
      acquire: async (name, ttl) => (await lib.acquireLock(name, { ttl: ttl / 1000 }) ? name : undefined),
      release: (name) => lib.releaseLock(name),
    };
  },
  'medusa-locking-redis': ([client]) => medusa(client, () => require('node:crypto').randomUUID()),
  'medusa-locking-redis-no-owner': ([client]) => medusa(client, () => undefined),
  'effect-distributed-lock': ([client]) => effect(client, false),
  'effect-distributed-lock-semaphore': ([client]) => effect(client, true),
  'redlock-universal': (clients) => universal((lib, adapters, o) => lib.createLock({ adapter: adapters[0], ...o }), clients),
  'redlock-universal-redlock': (clients) => universal((lib, adapters, o) => lib.createRedlock({ adapters, ...o }), clients),
};

// medusa is the provider of Medusa's locking module, with what it takes of the framework.
function medusa(client, owner) {
  require('./medusa.js');
  const { RedisLockingProvider } = require('@medusajs/locking-redis/dist/services/redis-lock.js');
  const lib = new RedisLockingProvider({ redisClient: client }, {});
  return {
    async acquire(name, ttl) {
      const ownerId = owner();
      try {
        await lib.acquire(name, { ownerId, expire: ttl / 1000 });
        return { name, ownerId };
      } catch (error) {
        if (/^Failed to acquire lock/.test(error.message)) return undefined;
        throw error;
      }
    },
    release: ({ name, ownerId }) => lib.release(name, { ownerId }),
  };
}

// effect is a semaphore of effect-distributed-lock: a scope is what holds it.
async function effect(client, counts) {
  const { Effect, Exit, Option, Scope, Schedule } = await import('effect');
  const { DistributedSemaphore, RedisBacking } = await import('effect-distributed-lock');
  const layer = RedisBacking.layer(client);
  return {
    counts,
    async acquire(name, ttl, limit = 1) {
      const scope = await Effect.runPromise(Scope.make());
      const settings = { limit, ttl, refreshInterval: 1e9, backingFailureRetryPolicy: Schedule.recurs(0) };
      const take = DistributedSemaphore.make(name, settings).pipe(Effect.flatMap((s) => s.tryTake(1)));
      const taken = await Effect.runPromise(take.pipe(Scope.extend(scope), Effect.provide(layer)));
      return Option.isSome(taken) ? { scope, Effect, Scope, Exit } : undefined;
    },
    release: ({ scope, ...lib }) => lib.Effect.runPromise(lib.Scope.close(scope, lib.Exit.void)),
  };
}

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

judge(libraries, ({ url, urls = [url] }) => [urls.map(ioredis), urls]);
