// Assertions.
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
