'use strict';
// Calls of lockproof, one a line on standard input, become calls of methods.

const readline = require('node:readline');

const FAILED = -32000; // this certainly had no effect
const UNKNOWN = -32603; // it may have happened
const NO_SUCH_METHOD = -32601;

// answer is what becomes of a call: a result, or an error that says whether it may have happened.
async function answer(methods, { method, params }, isBusy) {
  if (!Object.hasOwn(methods, method)) return { error: { code: NO_SUCH_METHOD, message: `no method ${method}` } };
  try {
    return { result: await methods[method](params) ?? {} };
  } catch (error) {
    return { error: { code: isBusy(error) ? FAILED : UNKNOWN, message: error.message } };
  }
}

// serve answers until the end of input. An error that isBusy certainly had no effect.
async function serve(methods, isBusy = () => false) {
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const call = JSON.parse(line);
    process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id: call.id, ...await answer(methods, call, isBusy) })}\n`);
  }
  process.exit(); // the end of input means stop, releasing nothing
}

// tell sends a notification.
function tell(method, params) {
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', method, params })}\n`);
}

module.exports = { serve, tell };
