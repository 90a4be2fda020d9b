/*
 * Writes what a program's clients of mutexes do as a history that `lockproof check` judges.
 *
 *     const recorder = new Recorder(fs.openSync('host-a.jsonl', 'w'), ['jobs']);
 *     const client = recorder.client('connection 7');
 *     await client.call('acquire', 'jobs', async (call) => call.ok({ token: await lock.acquire() }));
 *     await client.call('release', 'jobs', async (call) => { await lock.release(); call.ok(); });
 *
 * A call without ok() or fail() has an unknown outcome. Each run of a program needs a file of its own. Times are those of
 * Date.now(), to the millisecond: with several machines, --clock-error has to allow for it.
 */
'use strict';

const fs = require('fs');
const os = require('os');

/** Recorder writes a history to an open file, each event before the next begins. */
class Recorder {
  constructor(file, mutexes) {
    this._file = file;
    this._clients = 0;
    this._begun = process.hrtime.bigint();
    const locks = mutexes.map((name) => ({ name }));
    this._line(JSON.stringify({ lockproof: 'history', version: 1, kind: 'mutex', locks }));
  }

  /** A new client, whose calls follow each other; its session is for people. */
  client(session = '') {
    this._clients += 1;
    return new Client(this, this._clients, session);
  }

  _line(text) {
    fs.writeSync(this._file, text + '\n');
  }

  // Numbers of nanoseconds are larger than those that JSON.stringify writes exactly.
  _event(fields) {
    const text = JSON.stringify({ ...fields, host: os.hostname(), pid: process.pid });
    this._line(`${text.slice(0, -1)},"time":${Date.now()}000000,"mono":${process.hrtime.bigint() - this._begun}}`);
  }
}

/** Client is a client of mutexes. */
class Client {
  constructor(recorder, number, session) {
    this._recorder = recorder;
    this._number = number;
    this._session = session;
  }

  /** Records a call of acquire, verify or release: body does it, and tells the answer. Returns what body returns. */
  async call(operation, mutex, body) {
    const fields = { process: this._number, f: operation, lock: mutex, session: this._session };
    this._recorder._event({ type: 'invoke', ...fields });
    const call = new Call(operation);
    try {
      return await body(call);
    } finally {
      this._recorder._event({ ...call.answer, ...fields });
    }
  }
}

/** Call is a call under way. */
class Call {
  constructor(operation) {
    this._operation = operation;
    this.answer = { type: 'info' };
  }

  /** It happened; held is the answer of a verify, and token a grant's fencing token. */
  ok({ held = true, token } = {}) {
    this.answer = { type: 'ok' };
    if (this._operation !== 'release') {
      this.answer.value = token ? { held, token } : { held };
    }
  }

  /** It certainly did not happen. */
  fail() {
    this.answer = { type: 'fail' };
  }
}

module.exports = { Recorder };
