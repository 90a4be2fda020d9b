'use strict';
// The adapter between lockproof and your lock: calls come one a line on standard input, answers go to standard output.
//
// Replace the class Lock by your library. As it is, it is a mutex: one exclusive queue. It takes amqplib (npm install amqplib).

const readline = require('node:readline');
const amqp = require('amqplib');

const RESOURCE_LOCKED = 405;

// Lock is one client: a connection, and what is held by it.
class Lock {
  constructor(url) {
    this.url = url;
    this.connection = this.channel = null;
    this.held = false;
  }

  // open sees that there is an open channel. A new connection holds nothing of what an old one held.
  async open() {
    if (!this.connection) {
      this.held = false;
      const connection = await amqp.connect(`${this.url}?heartbeat=0`);
      connection.on('error', () => {}); // close follows
      connection.on('close', () => {
        if (this.connection === connection) this.connection = this.channel = null;
        this.held = false;
      });
      this.connection = connection;
    }
    if (!this.channel) {
      const channel = await this.connection.createChannel();
      channel.on('error', () => {}); // whoever called is told, and close follows
      channel.on('close', () => {
        if (this.channel === channel) this.channel = null;
      });
      this.channel = channel;
    }
    return this.channel;
  }

  // acquire is true if the lock is held now, false if somebody else has it.
  async acquire(name) {
    try {
      await (await this.open()).assertQueue(name, { exclusive: true, durable: false });
      this.held = true;
    } catch (error) {
      if (error.code !== RESOURCE_LOCKED) {
        this.abandon();
        throw error;
      }
      this.channel = null;
      await this.open();
    }
    return this.held;
  }

  // abandon closes the connection after what was not answered: the broker frees what it may hold.
  abandon() {
    const connection = this.connection;
    this.connection = this.channel = null;
    this.held = false;
    if (connection) connection.connection.stream.destroy(); // close() would wait for an answer
  }

  // verify is true if the lock is still held.
  async verify(name) {
    if (!this.held) return false;
    try {
      await (await this.open()).checkQueue(name);
    } catch {
      this.abandon();
    }
    return this.held;
  }

  // release gives the lock back.
  async release(name) {
    if (!this.held) return;
    try {
      await (await this.open()).deleteQueue(name);
    } catch {
      this.abandon();
    }
    this.held = false;
  }
}

let lock;

// What lockproof calls. Operations that initialize does not list are never called.
const methods = {
  async initialize({ url }) {
    lock = new Lock(url);
    return { name: 'my lock', locks: ['mutex'], operations: ['acquire', 'verify', 'release'] };
  },
  acquire: async ({ name }) => (await lock.acquire(name) ? { held: true, slot: 1 } : { held: false }),
  verify: async ({ name }) => ({ held: await lock.verify(name) }),
  release: async ({ name }) => lock.release(name),
};

// answer is a result; or an error: -32000 is that nothing has happened, any other that it may have.
async function answer({ method, params }) {
  if (!Object.hasOwn(methods, method)) return { error: { code: -32601, message: `no method ${method}` } };
  try {
    return { result: await methods[method](params) ?? {} };
  } catch (error) {
    return { error: { code: -32603, message: error.message } };
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
