// A document as a tree and as JSON.
import { el } from "./dom.js";
import { tree } from "./tree.js";
import { keyText, kindOf, lineText, scalarText, shellText } from "./shell-text.js";
import { count, short } from "./units.js";

const textMax = 400, itemsMax = 500, jsonMax = 200_000;

/** Returns a document as a tree whose branches are built when they are opened. */
export function documentTree(document, label) { return tree(label, fields(document)); }

function fields(value) {
  const entries = Array.isArray(value) ? value.map((each, i) => [String(i), each]) : [...value];
  const items = entries.slice(0, itemsMax).map(([key, each]) => item(key, each));
  if (entries.length > itemsMax) items.push({ content: el("span", { class: "quiet" }, `${entries.length - itemsMax} more; use JSON or a projection`) });
  return items;
}

function item(key, value) {
  const name = el("span", { class: "key" }, short(keyText(key), textMax), ": ");
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
  const shown = el("span", { class: `value ${kindOf(value)}` }, short(text, textMax));
  const more = el("button", {
    type: "button", class: "plain", onclick(event) {
      event.stopPropagation();
      shown.textContent = text.slice(0, jsonMax);
      more.remove();
    },
  }, `Show ${count(text.length, "character")}`);
  return [shown, " ", more];
}

/** Returns a document as text. */
export function jsonBlock(value) {
  return el("pre", { class: "json", tabindex: 0 }, short(shellText(value), jsonMax));
}
