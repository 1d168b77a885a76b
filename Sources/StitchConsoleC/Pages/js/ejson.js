// Extended JSON, and the relaxed text of a shell. Documents are maps, so fields keep their order.

/** An error at a place of a text. */
export class SyntaxTrouble extends Error {
  constructor(message, text, at) {
    const before = text.slice(0, at).split("\n");
    super(`${message} (line ${before.length}, column ${before.at(-1).length + 1})`);
    this.at = at;
  }
}

const depthMax = 400;
const longMax = 2n ** 63n;

/** Returns the value of a text such as `{_id: 1, at: ISODate("2024-01-01")}` as Extended JSON. */
export function parse(text) { return new Parser(String(text)).whole(); }

/** Returns the value of a server's JSON. Of fields with one name, the last is kept. */
export function parseReply(text) { return new Parser(text, true).whole(); }

/** Returns the document of a text. An empty text is an empty document. */
export function parseDocument(text) {
  if (text.trim() === "") return new Map();
  const value = parse(text);
  if (!(value instanceof Map)) throw new SyntaxTrouble("A document in braces is expected", text, 0);
  return value;
}

/** Returns JSON of maps, plain objects, arrays and scalars. */
export function stringify(value) {
  if (value instanceof Map) return entriesText([...value]);
  if (Array.isArray(value)) return "[" + value.map(stringify).join(",") + "]";
  if (value !== null && typeof value === "object") {
    return entriesText(Object.entries(value).filter((entry) => entry[1] !== undefined));
  }
  return JSON.stringify(value);
}

function entriesText(entries) {
  return "{" + entries.map(([key, each]) => JSON.stringify(key) + ":" + stringify(each)).join(",") + "}";
}

/** Returns a number, string or Boolean of a scalar's Extended JSON; a long as a number. */
export function plain(value) {
  if (!(value instanceof Map)) return value;
  const [[key, inner] = []] = value;
  switch (key) {
    case "$numberInt": case "$numberLong": case "$numberDouble": case "$numberDecimal": return Number(inner);
    case "$oid": case "$symbol": return inner;
    case "$date": return inner instanceof Map ? Number(plain(inner)) : Date.parse(inner);
    default: return value;
  }
}

/** Returns the value at a path of maps, or `undefined`. */
export function at(value, ...path) {
  for (const key of path) value = value instanceof Map ? value.get(key) : undefined;
  return value;
}

/** Whether two values have the same Extended JSON. */
export function isSame(a, b) { return stringify(a) === stringify(b); }

function typed(key, value) { return new Map([[key, value]]); }

const constructors = {
  ObjectId: ([hex], fail) => /^[0-9a-fA-F]{24}$/.test(hex ?? "") ? typed("$oid", hex.toLowerCase())
    : fail("ObjectId needs 24 hexadecimal digits"),
  ISODate: ([text], fail) => {
    if (text instanceof Map && text.has("$numberLong")) return typed("$date", text);
    const given = plain(text);
    const ms = given === undefined ? Date.now() : typeof given === "number" ? given : Date.parse(given);
    return Number.isNaN(ms) ? fail("The date is invalid; write 2024-12-31T23:59:59Z")
      : typed("$date", typed("$numberLong", String(ms)));
  },
  Long: ([value], fail) => whole(value, longMax, "$numberLong", fail),
  Int32: ([value], fail) => whole(value, 2n ** 31n, "$numberInt", fail),
  Double: ([value], fail) => {
    const text = String(plain(value));
    return /^-?(Infinity|NaN)$/.test(text) || (text !== "" && !Number.isNaN(Number(text)))
      ? typed("$numberDouble", doubleText(Number(text))) : fail("Double needs a number");
  },
  Decimal128: ([value], fail) => {
    const text = value instanceof Map ? [...value.values()][0] : value;
    return typeof text === "string" && text !== "" ? typed("$numberDecimal", text) : fail("Decimal128 needs a text");
  },
  UUID: ([text], fail) => {
    const hex = String(text).replace(/-/g, "");
    return /^[0-9a-fA-F]{32}$/.test(hex) ? uuid(hex) : fail("UUID needs 32 hexadecimal digits");
  },
  BinData: ([kind, text], fail) => typeof text === "string" && /^[A-Za-z0-9+/]*={0,2}$/.test(text)
    ? typed("$binary", new Map([["base64", text], ["subType", Number(plain(kind)).toString(16).padStart(2, "0")]]))
    : fail("BinData needs a subtype and Base64"),
  Timestamp: ([first, second]) => {
    const t = first instanceof Map && first.has("t") ? plain(first.get("t")) : plain(first);
    const i = first instanceof Map && first.has("i") ? plain(first.get("i")) : plain(second);
    return typed("$timestamp", new Map([["t", Number(t ?? 0)], ["i", Number(i ?? 0)]]));
  },
  RegExp: ([pattern, options]) => regex(String(pattern), String(options ?? "")),
  Code: ([code, scope]) => scope instanceof Map ? new Map([["$code", code], ["$scope", scope]]) : typed("$code", code),
  Symbol: ([text]) => typed("$symbol", text),
  DBRef: ([name, id]) => new Map([["$ref", name], ["$id", id]]),
  MinKey: () => typed("$minKey", 1),
  MaxKey: () => typed("$maxKey", 1),
};
const otherNames = {
  NumberLong: "Long", NumberInt: "Int32", NumberDecimal: "Decimal128", Date: "ISODate", ObjectID: "ObjectId",
  NumberDouble: "Double", Decimal: "Decimal128", Binary: "BinData", BSONRegExp: "RegExp",
};

function whole(value, max, key, fail) {
  const text = value instanceof Map ? String([...value.values()][0]) : String(value ?? "0");
  if (!/^-?\d+$/.test(text)) return fail("An integer is expected");
  const number = BigInt(text);
  return number >= -max && number < max ? typed(key, String(number)) : fail("The integer is too large");
}

function regex(pattern, options) {
  return typed("$regularExpression", new Map([["pattern", pattern], ["options", [...options].sort().join("")]]));
}

function uuid(hex) {
  const bytes = hex.match(/../g).map((each) => String.fromCharCode(parseInt(each, 16))).join("");
  return typed("$binary", new Map([["base64", btoa(bytes)], ["subType", "04"]]));
}

/** Returns the canonical form of a scalar that is written as a document. */
function canonical(fields) {
  if (fields.size !== 1) return fields;
  const [[key, inner]] = fields;
  if (key === "$timestamp" && inner instanceof Map) return constructors.Timestamp([inner]);
  if (key === "$minKey" || key === "$maxKey") return typed(key, 1);
  if (key === "$uuid" && /^[0-9a-fA-F-]{32,36}$/.test(inner)) return uuid(inner.replace(/-/g, ""));
  if (key === "$date" && typeof inner === "string" && !Number.isNaN(Date.parse(inner))) {
    return typed("$date", typed("$numberLong", String(Date.parse(inner))));
  }
  return fields;
}

/** Returns the text of a double as canonical Extended JSON has it. */
export function doubleText(value) {
  if (Object.is(value, -0)) return "-0.0";
  return Number.isInteger(value) && Math.abs(value) < 1e21 ? value.toFixed(1) : String(value);
}

/** Whether the character at a place stands behind an odd number of backslashes. */
function isEscaped(text, place) {
  let first = place;
  while (text[first - 1] === "\\") first -= 1;
  return (place - first) % 2 === 1;
}

class Parser {
  constructor(text, keepsLast = false) {
    this.text = text;
    this.keepsLast = keepsLast;
    this.at = 0;
    this.depth = 0;
  }

  whole() {
    const value = this.value();
    this.space();
    if (this.at < this.text.length) this.fail("The text goes on after its end");
    return value;
  }

  fail(message, at = this.at) { throw new SyntaxTrouble(message, this.text, at); }

  space() {
    const pattern = /(?:\s|\/\/[^\n]*|\/\*[^]*?\*\/)*/y;
    pattern.lastIndex = this.at;
    this.at += pattern.exec(this.text)[0].length;
  }

  match(pattern) {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text);
    if (found) this.at += found[0].length;
    return found;
  }

  value() {
    this.space();
    const first = this.text[this.at];
    if (first === undefined) this.fail("The text ends too early");
    if (first === "{") return this.nested(() => this.document());
    if (first === "[") return this.nested(() => this.items("]"));
    if (first === '"' || first === "'") return this.string();
    if (first === "/") return this.regex();
    if (/[-+.\d]/.test(first)) return this.number();
    return this.word();
  }

  nested(read) {
    if (++this.depth > depthMax) this.fail(`Values are nested deeper than ${depthMax}`);
    this.at += 1;
    const value = read();
    this.depth -= 1;
    return value;
  }

  document() {
    const fields = new Map();
    for (;;) {
      this.space();
      if (this.take("}")) return canonical(fields);
      const start = this.at;
      const key = this.key();
      if (fields.has(key) && !this.keepsLast) this.fail(`The field ${JSON.stringify(key).slice(0, 80)} occurs twice`, start);
      this.space();
      if (!this.take(":")) this.fail("A colon is expected after the field's name");
      fields.set(key, this.value());
      this.space();
      if (this.take(",")) continue;
      if (!this.take("}")) this.fail("A comma or closing brace is expected");
      return canonical(fields);
    }
  }

  items(end) {
    const values = [];
    for (;;) {
      this.space();
      if (this.take(end)) return values;
      values.push(this.value());
      this.space();
      if (this.take(",")) continue;
      if (!this.take(end)) this.fail(`A comma or ${end} is expected`);
      return values;
    }
  }

  take(character) {
    if (this.text[this.at] !== character) return false;
    this.at += 1;
    return true;
  }

  key() {
    const first = this.text[this.at];
    if (first === '"' || first === "'") return this.string();
    const name = this.match(/[\p{L}\p{N}_$][\p{L}\p{N}_$]*/uy);
    if (name) return name[0];
    if (first === undefined) this.fail("The text ends too early");
    return this.fail("A field's name is expected (put names with dots or dashes into quotes)");
  }

  string() {
    const start = this.at;
    const quote = this.text[start];
    // Not by one expression: the browser's stack is too small for one over a text of megabytes.
    let end = start;
    do {
      end = this.text.indexOf(quote, end + 1);
      if (end < 0) this.fail("The closing quote is missing", start);
    } while (isEscaped(this.text, end));
    this.at = end + 1;
    const inner = this.text.slice(start + 1, end);
    if (!inner.includes("\\")) return inner;
    return inner.replace(/\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([^]))/g, (_, four, two, one) => {
      if (four ?? two) return String.fromCharCode(parseInt(four ?? two, 16));
      return { n: "\n", t: "\t", r: "\r", b: "\b", f: "\f", v: "\v", 0: "\0", "\n": "" }[one] ?? one;
    });
  }

  number() {
    const start = this.at;
    const found = this.match(/[-+]?(?:Infinity|\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?)/y);
    if (!found || /[\p{L}\p{N}_$]/u.test(this.text[this.at] ?? "")) this.fail("The number is invalid", start);
    const text = found[0].replace(/^\+/, "");
    if (!/^-?\d+$/.test(text)) return typed("$numberDouble", doubleText(Number(text)));
    const value = BigInt(text);
    if (text === "-0") return typed("$numberDouble", "-0.0");
    if (value >= -(2n ** 31n) && value < 2n ** 31n) return typed("$numberInt", String(value));
    if (value >= -longMax && value < longMax) return typed("$numberLong", String(value));
    return typed("$numberDouble", doubleText(Number(text)));
  }

  regex() {
    const start = this.at;
    const found = this.match(/\/((?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+)\/([a-z]*)/y);
    if (!found) this.fail("The regular expression is invalid", start);
    return regex(found[1].replace(/\\\//g, "/"), found[2]);
  }

  word() {
    const start = this.at;
    const name = this.match(/(?:new\s+)?([A-Za-z_$][\w$]*)/y)?.[1];
    const constants = { true: true, false: false, null: null };
    if (name in constants && Object.hasOwn(constants, name)) return constants[name];
    if (name === "undefined") return typed("$undefined", true);
    if (name === "NaN" || name === "Infinity") return typed("$numberDouble", name);
    const known = Object.hasOwn(otherNames, name ?? "") ? otherNames[name] : name;
    if (!known || !Object.hasOwn(constructors, known)) {
      this.fail(name ? `${name.slice(0, 40)} is unknown (put texts into quotes)` : "A value is expected", start);
    }
    this.space();
    const values = this.take("(") ? this.nestedItems() : [];
    return constructors[known](values, (message) => this.fail(message, start));
  }

  nestedItems() {
    this.at -= 1;
    return this.nested(() => this.items(")"));
  }
}
