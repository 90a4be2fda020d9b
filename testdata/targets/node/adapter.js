'use strict';
// The adapter: calls of lockproof, one a line on standard input, become calls of the library.
//
// Usage: adapter.js [BUG], with a bug of wrong.js.

const readline = require('node:readline');
const { Busy, Semaphore, Session } = require('./amqp-locks');
const wrong = require('./wrong');

const FAILED = -32000; // this certainly had no effect
const UNKNOWN = -32603; // it may have happened
const NO_SUCH_METHOD = -32601;

const bug = process.argv[2];
const [MySession, MySemaphore] = bug ? wrong[bug] : [Session, Semaphore];
let session;

const semaphore = (name) => new MySemaphore(session, name);

const methods = {
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
};

// answer is what becomes of a call: a result, or an error that says whether it may have happened.
async function answer({ method, params }) {
  if (!Object.hasOwn(methods, method)) return { error: { code: NO_SUCH_METHOD, message: `no method ${method}` } };
  try {
    return { result: await methods[method](params) ?? {} };
  } catch (error) {
    return { error: { code: error instanceof Busy ? FAILED : UNKNOWN, message: error.message } };
  }
}

async function main() {
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const call = JSON.parse(line);
    process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id: call.id, ...await answer(call) })}\n`);
  }
  process.exit(); // the end of input means stop, releasing nothing
}

main();
