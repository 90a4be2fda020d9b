'use strict';
// What Medusa's locking providers take of its framework, which is large: errors, and a class for a model's methods, of which the
// providers call none. A provider that is required after this file gets it.

const Module = require('node:module');

const MEDUSA = '@medusajs/framework/utils';

class MedusaError extends Error {
  static Types = { CONFLICT: 'conflict' };

  constructor(type, message) {
    super(message);
    this.type = type;
  }
}

// column is whatever a model's definition says of a column.
const column = new Proxy(() => column, { get: () => column });

const utils = {
  MedusaError,
  promiseAll: (all) => Promise.all(all),
  isDefined: (value) => value !== undefined,
  MedusaService: () => class {},
  model: column,
};

const resolve = Module._resolveFilename;
Module._resolveFilename = function find(request, ...rest) {
  return request === MEDUSA ? __filename : resolve.call(this, request, ...rest);
};

module.exports = utils;
