// A document as a tree and as JSON.
import { el } from "./dom.js";
import { tree } from "./tree.js";
import { plain } from "./ejson.js";
import { keyText, kindOf, lineText, scalarText, shellText } from "./shell-text.js";
import { bytes, count, number, short } from "./units.js";

const textMax = 400, itemsMax = 500, jsonMax = 200_000;

/** Returns a document as a tree whose branches are built when they are opened. */
export function documentTree(document, label) { return tree(label, fields(document)); }

function fields(value) {
  const entries = Array.isArray(value) ? value : [...value];
  return range(entries, 0, entries.length, Array.isArray(value));
}

/** Returns the items of a range; a long one as ranges that are built when they are opened. */
function range(entries, first, end, isArray) {
  if (end - first <= itemsMax) {
    return entries.slice(first, end).map((each, i) => isArray ? item(String(first + i), each) : item(each[0], each[1]));
  }
  let step = itemsMax;
  while (step * itemsMax < end - first) step *= itemsMax;
  const ranges = [];
  for (let i = first; i < end; i += step) {
    const last = Math.min(end, i + step);
    ranges.push({
      content: el("span", { class: "quiet" }, `${number(i)} … ${number(last - 1)}`),
      children: () => range(entries, i, last, isArray),
    });
  }
  return ranges;
}

function item(key, value) {
  const name = el("span", { class: "key" }, short(keyText(key), textMax), ": ");
  if (isLong(value)) return { content: [name, longText(value)] };
  const scalar = scalarText(value);
  if (scalar !== null) return { content: [name, scalarNode(value, scalar)] };
  const size = Array.isArray(value) ? value.length : value.size;
  if (size === 0) return { content: [name, el("span", { class: "value" }, Array.isArray(value) ? "[]" : "{}")] };
  const summary = el("span", { class: "quiet" }, count(size, Array.isArray(value) ? "item" : "field"), "  ", lineText(value, 60));
  return { content: [name, summary], children: () => fields(value) };
}

/** Returns a scalar in the colour of its kind; a long text is cut and opens with a click. */
export function scalarNode(value, text = scalarText(value)) {
  if (text.length <= textMax) return el("span", { class: `value ${kindOf(value)}` }, text);
  return opening(kindOf(value), short(text, textMax), text.length, () => text.slice(0, jsonMax));
}

function isLong(value) { return typeof value === "string" && value.length > textMax; }

// Only what is shown of a long text is put in quotes.
function longText(value) {
  return opening("string", scalarText(value.slice(0, textMax)) + "…", value.length, () =>
    scalarText(value.slice(0, jsonMax)) + (value.length > jsonMax ? "…" : ""));
}

function opening(kind, start, length, whole) {
  const shown = el("span", { class: `value ${kind}` }, start);
  const more = el("button", {
    type: "button", class: "plain", onclick(event) {
      event.stopPropagation();
      shown.textContent = whole();
      more.remove();
    },
  }, `Show ${count(length, "character")}`);
  return [shown, " ", more];
}

/** Returns a document as text. */
export function jsonBlock(value) {
  return el("pre", { class: "json", tabindex: 0 }, short(shellText(value), jsonMax));
}

const sizeField = "$stitchsyncCutFrom";

/** Returns the size of an event or a story whose documents the server cut, and removes the mark; 0 if it cut nothing. */
export function takeCutSize(value) {
  const size = plain(value.get(sizeField) ?? null) ?? 0;
  value.delete(sizeField);
  return size;
}

/** Returns the note on a document that the server cut; `more` is the way to see the whole. */
export function cutNote(size, what, ...more) {
  return el("p", { class: "quiet" }, `The ${what} has ${bytes(size)}; … marks what this page leaves out. `, more);
}
