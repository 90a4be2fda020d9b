'use strict';
// The adapter: calls of lockproof, one a line on standard input, become calls of the library.
//
// Usage: adapter.js [BUG], with a bug of wrong.js.

const { Busy, Semaphore, Session } = require('./amqp-locks');
const { serve } = require('./serve');
const wrong = require('./wrong');

const bug = process.argv[2];
const [MySession, MySemaphore] = bug ? wrong[bug] : [Session, Semaphore];
let session;

const semaphore = (name) => new MySemaphore(session, name);

serve({
  async initialize({ url }) {
    session = new MySession(url);
    await session.connect();
    return {
      name: bug ? `node example, ${bug}` : 'node example',
      locks: ['semaphore'],
      operations: ['acquire', 'verify', 'release', 'create', 'add', 'remove', 'destroy', 'count', 'wait'],
    };
  },
  async acquire({ name }) {
    const slot = await semaphore(name).acquire();
    return slot ? { held: true, slot } : { held: false };
  },
  verify: async ({ name, slot }) => ({ held: await semaphore(name).verify(slot) }),
  count: async ({ name }) => ({ slots: await semaphore(name).count() }),
  release: ({ name, slot }) => semaphore(name).release(slot),
  wait: ({ name, slot }) => semaphore(name).wait(slot),
  create: ({ name, slots }) => semaphore(name).create(slots),
  add: ({ name, slots }) => semaphore(name).add(slots),
  remove: ({ name, slots }) => semaphore(name).remove(slots),
  destroy: ({ name }) => semaphore(name).destroy(),
}, (error) => error instanceof Busy);
