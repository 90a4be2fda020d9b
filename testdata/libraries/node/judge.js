'use strict';
// judge has lockproof judge one of the libraries, the one that the command line names. Each is made of what connect makes of the
// servers' addresses, and has acquire, which gives undefined where the lock is not to be had, and release. One that extends
// leases gives what is held from then on, and undefined where it is lost. One with losses tells of lost locks by their names.

const { serve, tell } = require('./serve.js');

function judge(libraries, connect) {
  const name = process.argv[2];
  let library;
  const held = new Map();
  serve({
    async initialize(params) {
      library = await libraries[name](...connect(params), (lost) => tell('lost', { name: lost }));
      const type = library.counts ? { locks: ['semaphore'], limits: true, permits: library.permits } : { locks: ['mutex'] };
      return { name, ...type, operations: ['acquire', 'release', ...(library.extend ? ['extend'] : [])], leases: library.leases ?? true, losses: library.losses };
    },
    async acquire({ name, ttl = 60000, limit, permits }) {
      const got = await library.acquire(name, ttl, limit, permits);
      if (got === undefined) return { held: false };
      held.set(name, got);
      return { held: true, slot: 1 };
    },
    async extend({ name, ttl }) {
      const got = held.has(name) ? await library.extend(held.get(name), ttl) : undefined;
      if (got === undefined) return { held: false };
      held.set(name, got);
      return { held: true };
    },
    async release({ name }) {
      const got = held.get(name);
      held.delete(name);
      if (got !== undefined) await library.release(got);
    },
  });
}

module.exports = { judge };
