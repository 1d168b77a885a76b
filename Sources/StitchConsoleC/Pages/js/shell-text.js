// The readable text of Extended JSON, as a shell prints it. `parse` reads every such text.
import { plain } from "./ejson.js";
import { bytes, count } from "./units.js";

/** Returns the text of a scalar, or `null` for a document or array. */
export function scalarText(value) {
  if (value === null || value === undefined) return "null";
  if (typeof value === "string") return quoted(value);
  if (typeof value !== "object") return String(value);
  if (!(value instanceof Map) || value.size > 2) return null;
  const [[key, inner] = []] = value;
  if (key === "$code" && value.get("$scope") instanceof Map) {
    return `Code(${quoted(inner)}, ${shellText(value.get("$scope"))})`;
  }
  if (value.size !== 1 || !Object.hasOwn(printers, key)) return null;
  return printers[key](inner);
}

/** Returns the kind of a scalar for its colour. */
export function kindOf(value) {
  if (typeof value === "string") return "string";
  if (value === null || typeof value === "boolean") return "constant";
  const key = value instanceof Map ? [...value.keys()][0] ?? "" : "";
  if (key.startsWith("$number")) return "number";
  return "special";
}

const printers = {
  $oid: (hex) => `ObjectId('${hex}')`,
  $numberInt: (text) => text,
  $numberLong: (text) => `Long('${text}')`,
  $numberDouble: (text) => /^-?\d+$/.test(text) ? text + ".0" : text,
  $numberDecimal: (text) => `Decimal128('${text}')`,
  $date: (inner) => {
    const ms = inner instanceof Map ? plain(inner) : Date.parse(inner);
    const date = new Date(ms);
    if (Number.isNaN(date.getTime()) || date.getUTCFullYear() < 0 || date.getUTCFullYear() > 9999) {
      return `ISODate(Long('${inner instanceof Map ? [...inner.values()][0] : inner}'))`;
    }
    return `ISODate('${date.toISOString()}')`;
  },
  $binary: (inner) => {
    const base64 = inner.get("base64"), kind = parseInt(inner.get("subType"), 16);
    if (kind === 4) {
      const hex = hexadecimal(base64);
      if (hex?.length === 32) return `UUID('${hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-")}')`;
    }
    return `BinData(${kind}, '${base64}')`;
  },
  $timestamp: (inner) => {
    const [t, i] = ["t", "i"].map((key) => plain(inner.get(key)));
    return `Timestamp({ t: ${t}, i: ${i} })`;
  },
  $regularExpression: (inner) => {
    const pattern = inner.get("pattern"), options = inner.get("options");
    return pattern !== "" && !/[/\\\n[\]]/.test(pattern) ? `/${pattern}/${options}`
      : `RegExp(${quoted(pattern)}, ${quoted(options)})`;
  },
  // A part that the server left out of a list.
  $stitchsyncCut: (inner) => cutText(inner),
  $code: (text) => `Code(${quoted(text)})`,
  $symbol: (text) => `Symbol(${quoted(text)})`,
  $minKey: () => "MinKey()",
  $maxKey: () => "MaxKey()",
  $undefined: () => "undefined",
};

function cutText(inner) {
  const start = inner.get("start"), kind = inner.get("kind"), size = plain(inner.get("size"));
  const of = {
    fields: () => count(size, "more field"), items: () => count(size, "more item"),
    object: () => `object with ${count(size, "field")}`, array: () => `array with ${count(size, "item")}`,
  };
  const what = Object.hasOwn(of, kind) ? of[kind]() : `${kind} of ${bytes(size)}`;
  return (typeof start === "string" ? quoted(start) + " " : "") + `… (${what})`;
}

function hexadecimal(base64) {
  try {
    return [...atob(base64)].map((each) => each.charCodeAt(0).toString(16).padStart(2, "0")).join("");
  } catch {
    return null;
  }
}

// Line ends, control characters and characters that reorder a line are escaped, so that a text cannot
// look like something else.
function quoted(text) {
  return JSON.stringify(text).replace(/[\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
    (each) => "\\u" + each.charCodeAt(0).toString(16).padStart(4, "0"));
}

/** Returns a field's name, in quotes where needed. */
export function keyText(key) {
  return /^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(key) ? key : quoted(key);
}

const lineMax = 72;

/** Returns the text of a value, with an indented line for each field unless all fit into one line. */
export function shellText(value, indent = "") {
  const scalar = scalarText(value);
  if (scalar !== null) return scalar;
  const isArray = Array.isArray(value);
  const [open, close] = isArray ? "[]" : "{}";
  const deeper = indent + "  ";
  const parts = isArray ? value.map((each) => shellText(each, deeper))
    : [...value].map(([key, each]) => `${keyText(key)}: ${shellText(each, deeper)}`);
  if (parts.length === 0) return open + close;
  const line = `${open} ${parts.join(", ")} ${close}`;
  if (indent !== "" && line.length + indent.length <= lineMax && !line.includes("\n")) return line;
  return `${open}\n${parts.map((each) => deeper + each).join(",\n")}\n${indent}${close}`;
}

/** Returns the text of a value in one line, cut short after `max` characters. */
export function lineText(value, max = 80) {
  let text = "";
  (function write(each) {
    if (text.length > max) return;
    const isLong = typeof each === "string" && each.length > max;
    const scalar = scalarText(isLong ? each.slice(0, max) : each);
    if (scalar !== null) { text += scalar + (isLong ? "…" : ""); return; }
    text += Array.isArray(each) ? "[" : "{";
    let isFirst = true;
    for (const entry of each) {
      if (text.length > max) break;
      text += isFirst ? "" : ", ";
      isFirst = false;
      if (Array.isArray(each)) { write(entry); continue; }
      text += keyText(entry[0]) + ": ";
      write(entry[1]);
    }
    text += Array.isArray(each) ? "]" : "}";
  })(value);
  return text.length > max ? text.slice(0, max) + "…" : text;
}
