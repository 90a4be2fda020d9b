'use strict';
// follow has Date tell the time of the server's clock, a file with nanoseconds since 1970 in 8 bytes. Timers are not changed.

const fs = require('node:fs');
const os = require('node:os');

const NANOSECONDS = 1000000n; // in a millisecond

function follow(path) {
  const file = fs.openSync(path);
  const bytes = Buffer.alloc(8);
  const now = () => {
    fs.readSync(file, bytes, 0, bytes.length, 0);
    return Number((os.endianness() === 'LE' ? bytes.readBigInt64LE() : bytes.readBigInt64BE()) / NANOSECONDS);
  };
  const Real = Date;
  globalThis.Date = class Date extends Real {
    constructor(...given) {
      super(...(given.length ? given : [now()]));
    }

    static now() {
      return now();
    }
  };
}

module.exports = { follow };
