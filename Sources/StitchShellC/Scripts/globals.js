// Errors, Extended JSON and settings.
const methods = {};
const g = globalThis;

class MongoError extends Error {}
class MongoServerError extends MongoError {}
class MongoBulkWriteError extends MongoServerError {}
class MongoWriteConcernError extends MongoServerError {}
class MongoTransactionError extends MongoError {}
class MongoInvalidArgumentError extends MongoError {}
class MongoNetworkError extends MongoError {}
class MongoExpiredSessionError extends MongoError {}
class MongoshInvalidInputError extends Error {}
class MongoshRuntimeError extends Error {}
class MongoshUnimplementedError extends Error {}
for (const type of [
  MongoError, MongoServerError, MongoBulkWriteError, MongoWriteConcernError, MongoTransactionError,
  MongoInvalidArgumentError, MongoNetworkError, MongoExpiredSessionError,
  MongoshInvalidInputError, MongoshRuntimeError, MongoshUnimplementedError,
]) g[type.name] = type;

function failed(type, message, fields) {
  const error = new type(message);
  Object.defineProperty(error, 'name', { value: type.name });
  return Object.assign(error, fields || {});
}
function invalid(message) {
  return failed(MongoshInvalidInputError, '[COMMON-10001] ' + message);
}

// Extended JSON
g.EJSON = {
  stringify(value, replacer, space, options) {
    if (replacer && typeof replacer === 'object' && !Array.isArray(replacer)) {
      options = replacer;
      replacer = undefined;
      space = undefined;
    } else if (space && typeof space === 'object') {
      options = space;
      space = undefined;
    }
    const relaxed = !options || options.relaxed !== false;
    if (value === undefined) return undefined;
    return JSON.stringify(JSON.parse(__extendedJSON(value, relaxed)), replacer, space);
  },
  parse(text) {
    if (typeof text !== 'string') text = String(text);
    JSON.parse(text);
    return __parseExtendedJSON(text);
  },
  serialize(value, options) {
    return JSON.parse(__extendedJSON(value, !options || options.relaxed !== false));
  },
  deserialize(value) { return __parseExtendedJSON(JSON.stringify(value)); },
};

g.Reflect = {
  apply(call, self, list) { return call.apply(self, list); },
  construct(type, list) { return new type(...list); },
  defineProperty(target, key, descriptor) {
    Object.defineProperty(target, key, descriptor);
    return true;
  },
  deleteProperty(target, key) { return delete target[key]; },
  get(target, key) { return target[key]; },
  set(target, key, value) {
    if (Object.isFrozen(target)) return false;
    target[key] = value;
    return true;
  },
  has(target, key) { return key in target; },
  ownKeys(target) { return Object.getOwnPropertyNames(target); },
  getPrototypeOf(target) { return Object.getPrototypeOf(target); },
  setPrototypeOf(target, prototype) {
    Object.setPrototypeOf(target, prototype);
    return true;
  },
};

g.tojson = value => __inspect(value);
g.tojsononeline = value => __inspect(value).replace(/\s*\n\s*/g, ' ');
g.printjsononeline = (...values) => print(...values.map(g.tojsononeline));
g.bsonsize = value => Object.bsonsize(value);
g.MD5 = digits => HexData(5, digits);
g.isInteractive = () => false;
g.disableTelemetry = () => 'Telemetry is now disabled.';
g.enableTelemetry = () => 'The shell sends no telemetry.';
g.getHostName = () => db.adminCommand({ hostInfo: 1 }).system.hostname;
g.edit = () => {
  throw failed(MongoshUnimplementedError,
    'the shell has no editor; write a script and load it');
};

// Settings
const defaults = {
  displayBatchSize: 20, maxTimeMS: null, enableTelemetry: false, editor: null,
  snippetIndexSourceURLs: '', snippetRegistryURL: '', snippetAutoload: true,
  inspectCompact: 3, inspectDepth: 6, historyLength: 1000, showStackTraces: false, redactHistory: 'remove',
  displayTable: false,
};
const settings = { ...defaults };
function change(key, value, word) {
  if (!(Object.hasOwn(defaults, key))) {
    return `Option "${key}" is not available in this environment`;
  }
  if (key === 'displayBatchSize' && !(value > 0)) {
    return `Cannot set option "${key}": ${key} must be a positive integer`;
  }
  settings[key] = value;
  __configure(key, value);
  return `Setting "${key}" has been ${word}`;
}
g.config = {
  get(key) { return settings[key]; },
  set(key, value) { return change(key, value, 'changed'); },
  reset(key) { return change(key, defaults[key], 'reset to its default value'); },
};
g.DBQuery = {
  get shellBatchSize() { return settings.displayBatchSize; },
  set shellBatchSize(value) { change('displayBatchSize', value, 'changed'); },
};
