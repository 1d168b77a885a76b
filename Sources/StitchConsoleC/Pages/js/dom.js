// Elements built from data. Text is always a text node, so data never becomes markup.

const svgSpace = "http://www.w3.org/2000/svg";
const attributes = new Set([
  "id", "type", "name", "for", "role", "tabindex", "title", "placeholder", "autocomplete", "rows",
  "min", "max", "step", "scope", "colspan", "datetime", "required", "checked", "selected",
  "disabled", "hidden", "open", "readonly", "spellcheck", "list", "value", "viewBox", "points",
  "preserveAspectRatio", "width", "height", "d", "x", "y", "x1", "x2", "y1", "y2", "lang",
  "wrap", "maxlength", "pattern", "inputmode", "autofocus", "multiple",
]);

/** Returns an element. Keys of `props`: an attribute, `class`, `data`, `aria-*` or `on<event>`. */
export function el(tag, props = {}, ...children) {
  return fill(document.createElement(tag), props, children);
}

/** Returns an element of SVG. */
export function svg(tag, props = {}, ...children) {
  return fill(document.createElementNS(svgSpace, tag), props, children);
}

function fill(node, props, children) {
  for (const [key, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (typeof value === "function" && key.startsWith("on")) {
      node.addEventListener(key.slice(2), value);
    } else if (key === "class") {
      node.setAttribute("class", value);
    } else if (key === "data") {
      for (const [name, text] of Object.entries(value)) node.dataset[name] = text;
    } else if (key === "href") {
      if (!String(value).startsWith("#/")) throw new Error("a link leaves the console");
      node.setAttribute("href", value);
    } else if (key.startsWith("aria-") || attributes.has(key)) {
      node.setAttribute(key, value === true ? "" : String(value));
    } else {
      throw new Error(`unknown attribute ${key}`);
    }
  }
  append(node, children);
  return node;
}

/** Appends nodes and texts; ignores `null`, `undefined` and `false`. */
export function append(node, children) {
  for (const child of [children].flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

/** Replaces the children of a node and keeps the focus on the element with the same key. */
export function refill(node, ...children) {
  const focused = node.contains(document.activeElement) ? document.activeElement.dataset.key : null;
  const scrollers = [...node.querySelectorAll(".scroll")].map((each) => each.scrollLeft);
  node.replaceChildren();
  append(node, children);
  [...node.querySelectorAll(".scroll")].forEach((each, i) => { each.scrollLeft = scrollers[i] ?? 0; });
  if (focused) {
    [...node.querySelectorAll("[data-key]")].find((each) => each.dataset.key === focused)?.focus();
  }
}

/** Returns the hash of a page: `page("data", "shop", "todos", {filter: "{}"})`. */
export function page(...parts) {
  const query = typeof parts.at(-1) === "object" ? new URLSearchParams(parts.pop()).toString() : "";
  return "#/" + parts.map(encodeURIComponent).join("/") + (query ? "?" + query : "");
}

/**
 * Returns a table whose rows become cards on a narrow screen, unless it is small. A cell is a text or
 * a node.
 */
export function table(caption, columns, rows, { rowClass, isSmall = false } = {}) {
  const head = columns.map((column) => el("th", { scope: "col", class: column.kind }, column.title));
  const body = rows.map((row) =>
    el("tr", { class: rowClass?.(row) },
      columns.map((column) =>
        el("td", { class: column.kind, data: { title: column.title } }, el("div", {}, column.cell(row))))));
  return el("div", { class: "scroll" },
    el("table", { class: isSmall ? "small" : null },
      el("caption", { class: "unseen" }, caption),
      el("thead", {}, el("tr", {}, head)),
      el("tbody", {}, body)));
}

let fieldCount = 0;

/** Returns a labelled field. `control` is an input, select or textarea. */
export function field(label, control, hint) {
  control.id ||= `field-${++fieldCount}`;
  let note = null;
  if (hint) {
    note = el("span", { class: "hint", id: control.id + "-hint" }, hint);
    control.setAttribute("aria-describedby", note.id);
  }
  return el("div", { class: "field" }, el("label", { for: control.id }, label), control, note);
}

export function button(text, action, props = {}) {
  return el("button", { type: "button", onclick: action, ...props }, text);
}

/** Returns a sentence for an empty page, with what to do about it. */
export function empty(what, todo) {
  return el("div", { class: "empty" }, el("p", { class: "what" }, what), todo && el("p", {}, todo));
}

/** Returns a place for an error, announced when a text is set. */
export function errorPlace() {
  const node = el("p", { class: "error", role: "alert", "aria-live": "assertive" });
  return {
    node,
    show(error) { node.textContent = error?.message ?? String(error); },
    clear() { node.textContent = ""; },
  };
}

/** Returns the heading of a page with what stands beside it. */
export function heading(title, ...beside) {
  return el("div", { class: "heading" }, el("h1", {}, title), beside);
}

/** Runs `action` now and after each `ms` milliseconds until the page is left. */
export function every(ms, signal, action) {
  let running = false;
  async function run() {
    if (signal.aborted || running || document.hidden) return;
    running = true;
    try { await action(); } finally { running = false; }
  }
  const timer = setInterval(run, ms);
  signal.addEventListener("abort", () => clearInterval(timer));
  return run();
}
