// The console.
function formatted(values) {
  if (typeof values[0] !== 'string' || !values[0].includes('%')) return shown(values);
  let index = 1;
  const text = values[0].replace(/%[sdifjoOc%]/g, mark => {
    if (mark === '%%') return '%';
    if (index >= values.length) return mark;
    const value = values[index++];
    switch (mark) {
      case '%s': return typeof value === 'object' && value !== null ? __inspect(value) : String(value);
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
    const keys = typeof row === 'object' && row !== null ? Object.keys(row) : ['Values'];
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
