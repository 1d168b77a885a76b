#if CommandLine
    extension ShellLibraryText {
        /// The global names.
        static let globals = #"""
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
              MongoError, MongoServerError, MongoBulkWriteError, MongoWriteConcernError,
                MongoTransactionError,
              MongoInvalidArgumentError, MongoNetworkError,
              MongoExpiredSessionError, MongoshInvalidInputError, MongoshRuntimeError,
              MongoshUnimplementedError,
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
                inspectCompact: 3,
              inspectDepth: 6, historyLength: 1000, showStackTraces: false, redactHistory: 'remove',
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

            // Node's names
            function formatted(values) {
              if (typeof values[0] !== 'string' || !values[0].includes('%')) return shown(values);
              let index = 1;
              const text = values[0].replace(/%[sdifjoOc%]/g, mark => {
                if (mark === '%%') return '%';
                if (index >= values.length) return mark;
                const value = values[index++];
                switch (mark) {
                  case '%s': return typeof value === 'object' &&
                    value !== null ? __inspect(value) : String(value);
                  case '%d': return String(Number(value));
                  case '%i': return String(parseInt(value));
                  case '%f': return String(parseFloat(value));
                  case '%j': return JSON.stringify(value);
                  case '%c': return '';
                  default: return __inspect(value);
                }
              });
              return [text, ...values.slice(index).map(one)].join(' ');
            }
            function one(value) { return typeof value === 'string' ? value : __inspect(value); }
            function shown(values) { return values.map(one).join(' '); }
            function table(rows) {
              if (typeof rows !== 'object' || rows === null) return one(rows);
              const columns = [];
              for (const row of Object.values(rows)) {
                const keys = typeof row === 'object' &&
                  row !== null ? Object.keys(row) : ['Values'];
                for (const key of keys) if (!columns.includes(key)) columns.push(key);
              }
              const lines = [['(index)', ...columns]];
              for (const [index, row] of Object.entries(rows)) {
                lines.push([index, ...columns.map(column => {
                  const isObject = typeof row === 'object' && row !== null;
                  if (!isObject) return column === 'Values' ? __inspect(row) : '';
                  return Object.hasOwn(row, column) ? __inspect(row[column]) : '';
                })]);
              }
              const widths = lines[0].map((_, i) =>
                Math.max(...lines.map(line => line[i].length)) + 2);
              const rule = (a, b, c) => a + widths.map(w => '─'.repeat(w)).join(b) + c;
              const write = line =>
                '│' + line.map((cell, i) => (' ' + cell).padEnd(widths[i])).join('│') + '│';
              return [rule('┌', '┬', '┐'), write(lines[0]), rule('├', '┼', '┤'),
                ...lines.slice(1).map(write), rule('└', '┴', '┘')].join('\n');
            }
            let indent = '';
            function log(...values) {
              __write(formatted(values).split('\n').map(line => indent + line).join('\n'));
            }
            const counts = {};
            const times = {};
            methods.console = {
              log, info: log, debug: log, dir: value => log(value),
              warn: (...values) => { __write(formatted(values), true); },
              error: (...values) => { __write(formatted(values), true); },
              trace: (...values) => { __write('Trace: ' + formatted(values), true); },
              table: rows => { __write(table(rows)); },
              group: (...values) => { if (values.length) log(...values); indent += '  '; },
              groupEnd: () => { indent = indent.slice(2); },
              count: (label = 'default') => {
                counts[label] = (counts[label] || 0) + 1;
                log(`${label}: ${counts[label]}`);
              },
              assert: (value, ...values) => {
                if (!value) __write(
                  ['Assertion failed', ...values.map(one)].join(values.length ? ': ' : ''), true);
              },
              time: (label = 'default') => { times[label] = Date.now(); },
              timeEnd: (label = 'default') => { log(`${label}: ${Date.now() - times[label]}ms`); },
            };

            class AssertionError extends Error {}
            function assertion(message, fallback) {
              if (message instanceof Error) throw message;
              throw failed(AssertionError, message || fallback);
            }
            function isSame(a, b) {
              return a === b ||
                (typeof a === 'object' && typeof b === 'object' && a !== null && b !== null
                && __extendedJSON({ v: a }, false) === __extendedJSON({ v: b }, false));
            }
            const checks = {
              ok: (value, message) => {
                if (!value) assertion(message, 'The expression evaluated to a falsy value');
              },
              equal: (a, b, message) => {
                if (a != b) assertion(message, `${__inspect(a)} == ${__inspect(b)}`);
              },
              notEqual: (a, b, message) => {
                if (a == b) assertion(message, `${__inspect(a)} != ${__inspect(b)}`);
              },
              strictEqual: (a, b, message) => {
                if (a !== b) assertion(message,
                  `Expected values to be strictly equal:\n\n${__inspect(a)} !== ${__inspect(b)}\n`);
              },
              notStrictEqual: (a, b, message) => {
                if (a === b) assertion(message,
                  'Expected "actual" to be strictly unequal to: ' + __inspect(b));
              },
              deepEqual: (a, b, message) => {
                if (!isSame(a, b)) assertion(message, 'Expected values to be loosely deep-equal');
              },
              deepStrictEqual: (a, b, message) => {
                if (!isSame(a, b)) assertion(message, 'Expected values to be strictly deep-equal');
              },
              fail: message => assertion(message, 'Failed'),
              match: (text, pattern, message) => {
                if (!pattern.test(text)) assertion(message,
                  'The input did not match the regular expression ' + pattern);
              },
              throws: (run, expected, message) => {
                let caught;
                try { run(); } catch (error) { caught = error; }
                if (!caught) assertion(typeof expected === 'string' ? expected : message,
                  'Missing expected exception.');
                if (expected instanceof RegExp && !expected.test(String(caught))) throw caught;
              },
              doesNotThrow: run => { run(); },
            };
            g.assert = Object.assign((value, message) => checks.ok(value, message), checks, {
              eq: (a, b, message) => {
                if (!isSame(a, b)) assertion(message,
                  `[${__inspect(a)}] != [${__inspect(b)}] are not equal`);
              },
              neq: (a, b, message) => {
                if (isSame(a, b)) assertion(message,
                  `[${__inspect(a)}] == [${__inspect(b)}] are equal`);
              },
            });
            g.assert.strict = g.assert;

            g.process = {
              argv: [], platform: 'linux', pid: 0, version: 'v20.19.0',
                versions: { node: '20.19.0' },
              env: {}, exit(code) { quit(code || 0); }, cwd: () => '.', uptime: () => 0,
              hrtime: Object.assign(() =>
                [Math.floor(Date.now() / 1000), (Date.now() % 1000) * 1e6], {}),
              nextTick: (run, ...values) => {
                setImmediate(run, ...values);
              }, memoryUsage: () => ({}),
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
            """#
    }
#endif
