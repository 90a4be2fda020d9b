'use strict';
// Libraries on PostgreSQL, each behind the same few lines: node postgres.js LIBRARY. Each tries once.

const { judge } = require('./judge.js');
const pg = require('pg');

// reconnecting is a database whose connection is made again after it was lost.
function reconnecting(url) {
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  pool.on('error', () => {});
  return pool;
}

const libraries = {
  'advisory-lock'(url) {
    const lib = require('advisory-lock').default(url);
    return {
      leases: false,
      acquire: async (name) => await lib(name).tryLock(),
      release: (unlock) => unlock(),
    };
  },
  'medusa-locking-postgres': (url) => medusa(url, () => require('node:crypto').randomUUID()),
  'medusa-locking-postgres-no-owner': (url) => medusa(url, () => undefined),
};

// medusa is the provider of Medusa's locking module, with what it takes of the framework. Its entity manager carries out statements
// with question marks; the table is the one that its migration makes.
async function medusa(url, owner) {
  require('./medusa.js');
  const { PostgresAdvisoryLockProvider } = require('@medusajs/locking-postgres/dist/services/advisory-lock.js');
  const pool = reconnecting(url);
  await pool.query(`create table if not exists "locking" ("id" text not null, "owner_id" text null, "expiration" timestamptz null,
    constraint "locking_pkey" primary key ("id"))`);
  const manager = {
    async execute(text, values) {
      let at = 0;
      return (await pool.query(text.replace(/\?/g, () => `$${at += 1}`), values)).rows;
    },
  };
  const lib = new PostgresAdvisoryLockProvider({ manager });
  return {
    async acquire(name, ttl) {
      const ownerId = owner();
      try {
        await lib.acquire(name, { ownerId, expire: ttl / 1000 });
        return { name, ownerId };
      } catch (error) {
        if (/^Failed to acquire lock|is already locked/.test(error.message)) return undefined;
        throw error;
      }
    },
    release: ({ name, ownerId }) => lib.release(name, { ownerId }),
  };
}

judge(libraries, ({ url }) => [url]);
