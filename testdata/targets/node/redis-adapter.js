'use strict';
// The adapter of the mutexes on Redis.
//
// Usage: redis-adapter.js [MUTEX], a class of redis-mutexes.js.

const { serve } = require('./serve');
const mutexes = require('./redis-mutexes');

const design = process.argv[2] ?? 'Lease';
let mutex;

serve({
  async initialize({ url, urls = [url] }) {
    mutex = new mutexes[design](urls);
    return { name: `node on Redis, ${design}`, locks: ['mutex'], operations: ['acquire', 'verify', 'release'], leases: true };
  },
  acquire: async ({ name, ttl }) => (await mutex.acquire(name, ttl) ? { held: true, slot: 1 } : { held: false }),
  verify: async ({ name }) => ({ held: Boolean(await mutex.verify(name)) }),
  release: ({ name }) => mutex.release(name),
});
