'use strict';
// Locks of tools that change a database's tables, and locks in tables: node sql.js LIBRARY. Each tries once. A tool holds its lock while
// it carries out a change. So each acquire begins one, a new one, and its release lets it end.

const { judge } = require('./judge.js');

// during begins what calls a function while it holds a lock, and gives how that is ended; undefined where the lock is not to be had.
function during(name, run, isBusy) {
  return new Promise((resolve, reject) => {
    const over = run(() => new Promise((end) => {
      const ending = async () => {
        end();
        await over;
      };
      resolve({ name, end: ending });
    }));
    over.then(() => reject(new Error('it ended without the lock')), (error) => (isBusy(error) ? resolve(undefined) : reject(error)));
  });
}

// table is a table for a lock, whatever its name is.
const table = (name) => `t${require('node:crypto').createHash('sha1').update(name).digest('hex').slice(0, 16)}`;

const once = () => `${Date.now()}_${require('node:crypto').randomUUID()}`;

// connect makes a client of knex, which says nothing on standard output.
const log = { warn() {}, error() {}, debug() {}, deprecate() {} };
const connect = (lib, client) => (url) => require(lib)({
  client,
  connection: client === 'pg' ? url : url.replace(/^\w+:/, 'mysql:'),
  pool: { min: 0, max: 2 },
  log,
});

// knex has a table for each lock, and a row that says whether it is held.
const knex = (connecting) => (url) => {
  const lib = connecting(url);
  return {
    leases: false,
    acquire: (name) => during(name, (held) => lib.migrate.latest({
      tableName: table(name),
      disableTransactions: true,
      disableMigrationsListValidation: true,
      migrationSource: {
        getMigrations: async () => [once()],
        getMigrationName: (migration) => migration,
        getMigration: async () => ({ up: held, down() {} }),
      },
    }), (error) => error.name === 'MigrationLocked'),
    async release({ end, name }) {
      await end();
      await lib(table(name)).del(); // a change is carried out but once
    },
  };
};

const libraries = {
  'knex-postgres': knex(connect('knex', 'pg')),
  'knex-mariadb': knex(connect('knex', 'mysql2')),
  'knex-0.95-postgres': knex(connect('knex-0.95', 'pg')),
  'knex-0.95-mariadb': knex(connect('knex-0.95', 'mysql2')),
  'verrou-postgres': verrou(connect('knex', 'pg')),
  'verrou-mariadb': verrou(connect('knex', 'mysql2')),
};

// verrou has a table with a row for each lock.
function verrou(connecting) {
  return async (url) => {
    const { Verrou } = await import('@verrou/core');
    const { knexStore } = await import('@verrou/core/drivers/knex');
    const lib = new Verrou({ default: 'database', stores: { database: { driver: knexStore({ connection: connecting(url) }) } } });
    return {
      async acquire(name, ttl) {
        const held = lib.createLock(name, ttl);
        return await held.acquireImmediately() ? held : undefined;
      },
      release: (held) => held.release(),
    };
  };
}

judge(libraries, ({ url }) => [url]);
