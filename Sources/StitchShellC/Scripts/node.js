// Node's names.
g.process = {
  argv: [], platform: 'linux', pid: 0, version: 'v20.19.0',
  versions: { node: '20.19.0' }, env: {}, exit(code) { quit(code || 0); }, cwd: () => '.', uptime: () => 0,
  hrtime: Object.assign(() => [Math.floor(Date.now() / 1000), (Date.now() % 1000) * 1e6], {}),
  nextTick: (run, ...values) => { setImmediate(run, ...values); },
  memoryUsage: () => ({}),
  on: () => g.process,
};
for (const name of ['HOME', 'USER', 'PATH', 'PWD', 'LANG', 'TZ', 'MONGODB_URI',
  'NODE_ENV']) {
  const value = __environment(name);
  if (value !== undefined) g.process.env[name] = value;
}
if (g.process.env.PWD) g.process.cwd = () => g.process.env.PWD;
g.pwd = () => g.process.cwd();
class Buffer {
  #bytes;
  constructor(bytes) { this.#bytes = bytes; }
  static from(value, encoding = 'utf8') {
    if (Buffer.isBuffer(value)) return new Buffer(value.toJSON().data);
    if (typeof value !== 'string') return new Buffer(Array.from(value, n => n & 255));
    const bytes = [];
    if (encoding === 'hex') {
      for (let i = 0; i + 1 < value.length; i += 2) {
        bytes.push(parseInt(value.slice(i, i + 2), 16));
      }
    } else if (encoding === 'base64' || encoding === 'base64url') {
      let [bits, count] = [0, 0];
      for (const letter of value.replace(/-/g, '+').replace(/_/g, '/')) {
        const digit = Buffer.#digits.indexOf(letter);
        if (digit < 0) continue;
        [bits, count] = [(bits << 6 | digit) & 0xffff, count + 6];
        if (count >= 8) bytes.push(bits >> (count -= 8) & 255);
      }
    } else if (encoding === 'latin1' || encoding === 'binary') {
      for (let i = 0; i < value.length; i++) bytes.push(value.charCodeAt(i) & 255);
    } else {
      const text = encodeURIComponent(value);
      for (let i = 0; i < text.length; i++) {
        if (text[i] === '%') {
          bytes.push(parseInt(text.slice(i + 1, i + 3), 16));
          i += 2;
        } else {
          bytes.push(text.charCodeAt(i));
        }
      }
    }
    return new Buffer(bytes);
  }
  static #digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
  static isBuffer(value) { return value instanceof Buffer; }
  static alloc(count, fill = 0) { return new Buffer(new Array(count).fill(fill)); }
  static byteLength(text, encoding) { return Buffer.from(text, encoding).length; }
  static concat(list) {
    return new Buffer(list.flatMap(part => part.toJSON().data));
  }
  get length() { return this.#bytes.length; }
  at(index) { return this.#bytes.at(index); }
  equals(other) { return this.toString('hex') === other.toString('hex'); }
  slice(first, end) { return new Buffer(this.#bytes.slice(first, end)); }
  subarray(first, end) { return this.slice(first, end); }
  toJSON() { return { type: 'Buffer', data: [...this.#bytes] }; }
  [Symbol.iterator]() { return this.#bytes.values(); }
  toString(encoding = 'utf8') {
    const hex = this.#bytes.map(n => n.toString(16).padStart(2, '0'));
    switch (encoding) {
      case 'hex': return hex.join('');
      case 'base64': case 'base64url': {
        let text = '';
        for (let i = 0; i < this.#bytes.length; i += 3) {
          const [a, b = 0, c = 0] = this.#bytes.slice(i, i + 3);
          const bits = a << 16 | b << 8 | c;
          const count = Math.min(3, this.#bytes.length - i);
          for (let j = 0; j <= count; j++) {
            text += Buffer.#digits[bits >> (18 - 6 * j) & 63];
          }
          if (encoding === 'base64') text += '='.repeat(3 - count);
        }
        return encoding === 'base64'
          ? text : text.replaceAll('+', '-').replaceAll('/', '_');
      }
      case 'latin1': case 'binary': return String.fromCharCode(...this.#bytes);
      default: return decodeURIComponent(hex.map(pair => '%' + pair).join(''));
    }
  }
}
g.Buffer = Buffer;
g.btoa = text => Buffer.from(text, 'latin1').toString('base64');
g.atob = text => Buffer.from(text, 'base64').toString('latin1');
// The shell ends soon, so that these may keep their keys.
g.WeakMap = class WeakMap {
  #map;
  constructor(entries) { this.#map = new Map(entries); }
  get(key) { return this.#map.get(key); }
  has(key) { return this.#map.has(key); }
  set(key, value) {
    this.#map.set(key, value);
    return this;
  }
  delete(key) { return this.#map.delete(key); }
};
g.WeakSet = class WeakSet {
  #set;
  constructor(values) { this.#set = new Set(values); }
  has(value) { return this.#set.has(value); }
  add(value) {
    this.#set.add(value);
    return this;
  }
  delete(value) { return this.#set.delete(value); }
};
g.require = name => {
  switch (String(name).replace(/^node:/, '')) {
    case 'assert': case 'assert/strict': return g.assert;
    case 'process': return g.process;
    case 'util': return {
      inspect: value => __inspect(value), format: (...values) => formatted(values),
      isDeepStrictEqual: isSame, promisify: run => run,
    };
    case 'bson': return { EJSON: g.EJSON, ObjectId, Long, Decimal128, Int32, Double,
      Binary, UUID, Timestamp, MinKey, MaxKey };
    case 'timers/promises':
      return { setTimeout: (ms, value) =>
      new Promise(done => setTimeout(done, ms, value)) };
    default:
      throw failed(MongoshUnimplementedError,
        `require('${name}') is not available: ` +
          'scripts of this shell have no access to files and modules, except by load');
  }
};
