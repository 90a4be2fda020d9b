'use strict';
// Libraries on Redis, each behind the same few lines: node redis.js LIBRARY. One object is made for each acquire where the library
// says so, and one for all otherwise. Each tries once: nothing waits for a clock of its own.

const { judge } = require('./judge.js');
const Redis = require('ioredis');

const quiet = (client) => client.on('error', () => {});
const retrying = { retryStrategy: () => 50, enableReadyCheck: false };
const ioredis = (url) => quiet(new Redis(url, retrying));
const nodeRedis = async (url) => {
  const client = quiet(require('redis').createClient({ url, disableOfflineQueue: true, socket: { reconnectStrategy: 50 } }));
  await client.connect();
  return client;
};

// unless gives what a lock is once something about it is done, and undefined where that fails since the lock is lost.
const unless = (lost) => async (held, done) => {
  try {
    return await done ?? held;
  } catch (error) {
    if (lost(error)) return undefined;
    throw error;
  }
};
const unlessExpired = unless((error) => /expired/.test(error.message));

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
    extend: (held, ttl) => unless((error) => ['ExecutionError', 'LockError'].includes(error.name))(held, held.extend(ttl)),
    release: (held) => (held.release ?? held.unlock).call(held),
  };
};

// of is a class of redis-semaphore: an object is made for each acquire. more are options for it.
const of = (Class, several, counts, lib = 'redis-semaphore', more = () => ({ refreshInterval: 0 })) => (clients, _, tell) => {
  lib = require(lib);
  return {
    counts,
    losses: more === renewed,
    permits: Class.includes('Multi'),
    async acquire(name, ttl, limit, permits) {
      const state = { began: Date.now() };
      const o = { lockTimeout: ttl, acquireAttemptsLimit: 1, acquireTimeout: 1e6, ...more(state, ttl, () => tell(name)) };
      const on = several ? clients : clients[0];
      const held = counts ? new lib[Class](on, name, limit, ...(permits ? [permits] : []), o) : new lib[Class](on, name, o);
      return await held.tryAcquire() ? { held, state } : undefined;
    },
    release({ held, state }) {
      state.released = true;
      return held.release();
    },
  };
};

// A lock that is renewed, as it is without refreshInterval. That it is lost once its time to live is over is no surprise; but nobody has
// lost a lock that was given back before.
const renewed = (state, ttl, tell) => ({
  onLockLost(error) {
    if (!state.released) tell();
    else if (Date.now() < state.began + ttl) throw error;
  },
});

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
  'redis-semaphore-mutex-renewed': of('Mutex', false, false, 'redis-semaphore', renewed),
  'redis-semaphore-semaphore-renewed': of('Semaphore', false, true, 'redis-semaphore', renewed),
  'redis-semaphore-5.5-mutex-renewed': (_, [url]) => (
    of('Mutex', false, false, 'redis-semaphore-5.5', () => ({ onLockLost() {} }))([quiet(new Redis(url, { ...retrying, commandTimeout: 1000 }))])
  ),
  'redis-semaphore-5.5-semaphore-renewed': of('Semaphore', false, true, 'redis-semaphore-5.5', renewed),
  'redis-semaphore-4-mutex-renewed'([client]) {
    const { Mutex, TimeoutError } = require('redis-semaphore-4');
    return {
      async acquire(name, ttl) {
        const held = new Mutex(client, name, { lockTimeout: ttl, acquireTimeout: 1 });
        try {
          await held.acquire();
          return held;
        } catch (error) {
          if (error instanceof TimeoutError) return undefined;
          throw error;
        }
      },
      release: (held) => held.release(),
    };
  },
  ioredfour([client]) {
    const lib = new (require('ioredfour'))({ redis: client, namespace: 'four' });
    return {
      async acquire(name, ttl) {
        const held = await lib.acquireLock(name, ttl);
        return held.success ? held : undefined;
      },
      async extend(held, ttl) {
        const extended = await lib.extendLock(held, ttl);
        return extended.success ? extended : undefined;
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
      extend: (held, ttl) => unlessExpired(held, held.extend(ttl)),
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
  murlock: (_, [url]) => murlock(url, {}),
  'murlock-fail-fast': (_, [url]) => murlock(url, { failFastOnRedisError: true }),
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
      extend: (held, ttl) => unlessExpired(held, held.extend(ttl)),
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
  // One acquire takes two keys, without a time to live.
  'medusa-locking-redis-two-keys': ([client]) => (
    medusa(client, () => require('node:crypto').randomUUID(), (name) => [`${name}:cart`, `${name}:customer`], false)
  ),
  'effect-distributed-lock': ([client]) => effect(client, false),
  'effect-distributed-lock-semaphore': ([client]) => effect(client, true),
  'hoangducnhuan-redlock': async (_, urls) => (
    redlock((c, o) => new (require('@hoangducnhuan/redlock').default)(c, o), (lib, name, ttl) => lib.acquire([name], ttl))(
      await Promise.all(urls.map(nodeRedis)),
    )
  ),
  'bull-redlock': redlock((c, o) => new (require('bull-redlock'))(c, o), (lib, name, ttl) => lib.lock(name, ttl)),
  redislock([client]) {
    const { createLock, LockAcquisitionError } = require('redislock');
    return {
      async acquire(name, ttl) {
        const held = createLock(client, { timeout: ttl, retries: 0 });
        try {
          await held.acquire(name);
          return held;
        } catch (error) {
          if (error instanceof LockAcquisitionError && /^Could not/.test(error.message)) return undefined;
          throw error;
        }
      },
      extend: (held, ttl) => unlessExpired(held, held.extend(ttl)),
      release: (held) => held.release(),
    };
  },
  // Its service is of a framework, NestJS, and has one identifier for all that it locks.
  'nestjs-simple-redis-lock'([client]) {
    const { RedisLockService } = require('nestjs-simple-redis-lock');
    const lib = new RedisLockService({ getClient: () => client }, {});
    return {
      acquire: async (name, ttl) => (await lib.lockOnce(name, ttl) ? name : undefined),
      release: (name) => lib.unlock(name),
    };
  },
  locco([client]) {
    const { Locker, IoRedisAdapter, RetryError } = require('@kontsedal/locco');
    const lib = new Locker({ adapter: new IoRedisAdapter({ client }), retrySettings: { retryTimes: 1, retryDelay: 1 } });
    return {
      async acquire(name, ttl) {
        try {
          return await lib.lock(name, ttl).acquire();
        } catch (error) {
          if (error instanceof RetryError) return undefined;
          throw error;
        }
      },
      extend: (held, ttl) => unless((error) => error.constructor.name === 'LockExtendError')(held, held.extend(ttl)),
      release: (held) => held.release({ throwOnFail: true }),
    };
  },
  async 'redis-kit-lock'(_, urls) {
    const { Redlock } = require('@redis-kit/lock');
    const lib = new Redlock(await Promise.all(urls.map(nodeRedis)), { maxRetryAttempts: 0 });
    return {
      acquire: async (name, ttl) => await lib.acquire(name, ttl) ?? undefined,
      extend: async (held, ttl) => (await held.extend(ttl) ? held : undefined),
      release: (held) => held.release(),
    };
  },
  'node-redisson'(_, [url]) {
    const { Redisson } = require('node-redisson');
    const lib = new Redisson({ redis: { options: { ...retrying, host: new URL(url).hostname, port: new URL(url).port } } });
    return {
      async acquire(name, ttl) {
        const lock = lib.getLock(name);
        return await lock.tryLock(0n, BigInt(ttl)) ? lock : undefined;
      },
      release: (lock) => lock.unlock(),
    };
  },
  redfour(_, [url]) {
    const lib = new (require('redfour'))({ redis: url, namespace: 'four' });
    quiet(lib._redisConnection);
    quiet(lib._redisSubscriber);
    const call = (method, ...given) => new Promise((resolve, reject) => {
      lib[method](...given, (error, result) => (error ? reject(error) : resolve(result)));
    });
    return {
      async acquire(name, ttl) {
        const held = await call('acquireLock', name, ttl);
        return held.success ? held : undefined;
      },
      release: (held) => call('releaseLock', held),
    };
  },
  async verrou([connection]) {
    const { Verrou } = await import('@verrou/core');
    const { redisStore } = await import('@verrou/core/drivers/redis');
    const lib = new Verrou({ default: 'redis', stores: { redis: { driver: redisStore({ connection }) } } });
    return {
      async acquire(name, ttl) {
        const held = lib.createLock(name, ttl);
        return await held.acquireImmediately() ? held : undefined;
      },
      extend: (held, ttl) => unless((error) => error.code === 'E_LOCK_NOT_OWNED')(held, held.extend(ttl)),
      release: (held) => held.release(),
    };
  },
  'redlock-universal': (clients) => universal((lib, adapters, o) => lib.createLock({ adapter: adapters[0], ...o }), clients),
  'redlock-universal-redlock': (clients) => universal((lib, adapters, o) => lib.createRedlock({ adapters, ...o }), clients),
};

// murlock is a service of a framework, NestJS. A decorator calls lock and unlock with an identifier for each call, as here.
async function murlock(url, more) {
  require('@nestjs/common').Logger.overrideLogger(false); // it speaks on standard output
  const { MurLockService } = require('murlock');
  const options = { redisOptions: { url }, wait: 1, maxAttempts: 1, logLevel: 'error', ...more };
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
}

// medusa is the provider of Medusa's locking module, with what it takes of the framework.
function medusa(client, owner, keys = (name) => name, leases = true) {
  require('./medusa.js');
  const { RedisLockingProvider } = require('@medusajs/locking-redis/dist/services/redis-lock.js');
  const lib = new RedisLockingProvider({ redisClient: client }, {});
  return {
    leases,
    async acquire(name, ttl) {
      const ownerId = owner();
      try {
        await lib.acquire(keys(name), { ownerId, ...(leases && { expire: ttl / 1000 }) });
        return { name, ownerId };
      } catch (error) {
        if (/^Failed to acquire lock/.test(error.message)) return undefined;
        throw error;
      }
    },
    release: ({ name, ownerId }) => lib.release(keys(name), { ownerId }),
  };
}

// effect is a semaphore of effect-distributed-lock: a scope is what holds it.
async function effect(client, counts) {
  const { Effect, Exit, Option, Scope, Schedule } = await import('effect');
  const { DistributedSemaphore, RedisBacking } = await import('effect-distributed-lock');
  const layer = RedisBacking.layer(client);
  return {
    counts,
    permits: counts,
    async acquire(name, ttl, limit = 1, permits = 1) {
      const scope = await Effect.runPromise(Scope.make());
      const settings = { limit, ttl, refreshInterval: 1e9, backingFailureRetryPolicy: Schedule.recurs(0) };
      const take = DistributedSemaphore.make(name, settings).pipe(Effect.flatMap((s) => s.tryTake(permits)));
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
    extend: async (held, ttl) => (await held.lock.extend(held.handle, ttl) ? held : undefined),
    release: ({ lock, handle }) => lock.release(handle),
  };
}

judge(libraries, ({ url, urls = [url] }) => [urls.map(ioredis), urls]);
