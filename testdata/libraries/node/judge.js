'use strict';
// judge has lockproof judge one of the libraries, the one that the command line names. Each is made of what connect makes of the
// servers' addresses, and has acquire, which gives undefined where the lock is not to be had, and release.

const { serve } = require('./serve.js');

function judge(libraries, connect) {
  const name = process.argv[2];
  let library;
  const held = new Map();
  serve({
    async initialize(params) {
      library = await libraries[name](...connect(params));
      const type = library.counts ? { locks: ['semaphore'], limits: true } : { locks: ['mutex'] };
      return { name, ...type, operations: ['acquire', 'release'], leases: library.leases ?? true };
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
}

module.exports = { judge };
