// The difference of two texts by lines.
import { el } from "./dom.js";

const cellsMax = 4_000_000, context = 3;

/** Returns lines `{kind: "same"|"old"|"new", text}`. */
export function differenceOf(before, after) {
  const a = before.split("\n"), b = after.split("\n");
  let start = 0, end = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end += 1;
  const same = (texts) => texts.map((text) => ({ kind: "same", text }));
  return [
    ...same(a.slice(0, start)),
    ...middle(a.slice(start, a.length - end), b.slice(start, b.length - end)),
    ...same(a.slice(a.length - end)),
  ];
}

function middle(a, b) {
  const old = (text) => ({ kind: "old", text }), fresh = (text) => ({ kind: "new", text });
  if (a.length * b.length > cellsMax) return [...a.map(old), ...b.map(fresh)];
  const width = b.length + 1;
  const lengths = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      lengths[i * width + j] = a[i] === b[j] ? lengths[(i + 1) * width + j + 1] + 1
        : Math.max(lengths[(i + 1) * width + j], lengths[i * width + j + 1]);
    }
  }
  const lines = [];
  let i = 0, j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) { lines.push({ kind: "same", text: a[i] }); i += 1; j += 1; }
    else if (j === b.length || (i < a.length && lengths[(i + 1) * width + j] >= lengths[i * width + j + 1])) lines.push(old(a[i++]));
    else lines.push(fresh(b[j++]));
  }
  return lines;
}

/** Returns the difference as a block with the changed lines and some lines around them. */
export function differenceNode(before, after) {
  const lines = differenceOf(before, after);
  const near = (i) => lines.slice(Math.max(0, i - context), i + context + 1).some((each) => each.kind !== "same");
  const nodes = [];
  let isSkipping = false;
  lines.forEach((line, i) => {
    if (!near(i)) {
      if (!isSkipping) nodes.push(el("span", { class: "line quiet" }, "  …\n"));
      isSkipping = true;
      return;
    }
    isSkipping = false;
    const [mark, word] = { same: ["  ", null], old: ["− ", "removed: "], new: ["+ ", "added: "] }[line.kind];
    nodes.push(el("span", { class: `line ${line.kind}` }, word && el("span", { class: "unseen" }, word), mark, line.text, "\n"));
  });
  return el("pre", { class: "difference", tabindex: 0, role: "group", "aria-label": "Difference" }, nodes);
}
