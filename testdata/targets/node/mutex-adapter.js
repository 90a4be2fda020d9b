'use strict';
// The adapter of the mutexes.
//
// Usage: mutex-adapter.js MUTEX, a class of mutexes.js, fenced-mutexes.js or wrong-mutexes.js.

const { serve } = require('./serve');

const design = process.argv[2];
const fenced = require('./fenced-mutexes');
const Mutex = { ...require('./mutexes'), ...fenced, ...require('./wrong-mutexes') }[design];
const tokens = design in fenced;
let mutex;

serve({
  async initialize({ url }) {
    mutex = new Mutex(url);
    return { name: `node example, ${design}`, locks: ['mutex'], operations: ['acquire', 'verify', 'release'], tokens };
  },
  async acquire({ name }) {
    if (!await mutex.acquire(name)) return { held: false };
    return tokens ? { held: true, slot: 1, token: mutex.number } : { held: true, slot: 1 };
  },
  verify: async ({ name }) => ({ held: await mutex.verify(name) }),
  release: ({ name }) => mutex.release(name),
});
