'use strict';
// The adapter of the mutexes.
//
// Usage: mutex-adapter.js MUTEX, a class of mutexes.js or wrong-mutexes.js.

const { serve } = require('./serve');

const design = process.argv[2];
const Mutex = { ...require('./mutexes'), ...require('./wrong-mutexes') }[design];
let mutex;

serve({
  async initialize({ url }) {
    mutex = new Mutex(url);
    return { name: `node example, ${design}`, locks: ['mutex'], operations: ['acquire', 'verify', 'release'] };
  },
  acquire: async ({ name }) => (await mutex.acquire(name) ? { held: true, slot: 1 } : { held: false }),
  verify: async ({ name }) => ({ held: await mutex.verify(name) }),
  release: ({ name }) => mutex.release(name),
});
