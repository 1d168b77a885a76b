// The page Conflicts of a device's file: the fields that differ, in base, local, remote and result.
import { el, empty, errorPlace, heading, refill, table } from "../js/dom.js";
import { getDocuments } from "../js/api.js";
import { plain } from "../js/ejson.js";
import { scalarNode } from "../js/document-view.js";
import { lineText, scalarText } from "../js/shell-text.js";
import { ago, count, shortNode } from "../js/units.js";
import { storyOf } from "../js/write.js";

export const title = "Conflicts";
const versions = ["Base", "Local", "Remote", "Result"];

export async function show(main, route, { signal }) {
  const error = errorPlace(), state = el("p", { class: "quiet", role: "status" }), body = el("div", { "aria-busy": "true" });
  main.append(heading(title, state), error.node, body);
  try {
    const conflicts = (await getDocuments("/api/device/conflicts", signal)).get("conflicts");
    state.textContent = count(conflicts.length, "conflict");
    refill(body, conflicts.length ? [
      el("p", { class: "quiet" }, "Only fields that differ. Base is the last version that both sides had; a mark shows what is not as in base."),
      conflicts.map(conflictNode),
    ] : empty("No conflict is recorded.", "A conflict appears when this device and another client changed the same document."));
  } catch (trouble) {
    if (!signal.aborted) error.show(trouble);
  } finally {
    body.setAttribute("aria-busy", "false");
  }
}

function conflictNode(conflict) {
  const name = String(conflict.get("collection")), id = conflict.get("_id");
  const fields = conflict.get("fields");
  return el("section", { class: "conflict" },
    el("h2", {}, el("a", { href: storyOf(name, id) }, shortNode(`${name} ${lineText(id, 60)}`, 120))),
    el("p", {}, ago(plain(conflict.get("time"))), " · ", shortNode(conflict.get("text"), 240)),
    fields.length ? comparison(fields) : el("p", { class: "quiet" }, "All versions are the same."));
}

/** Returns the table of fields `{path, cells}` with a cell a version. */
export function comparison(fields) {
  return table("Fields that differ", [
    { title: "Field", cell: (each) => el("code", {}, shortNode(each.get("path"), 80)) },
    ...versions.map((version, i) => ({ title: version, cell: (each) => cellNode(each.get("cells")[i]) })),
  ], fields);
}

function cellNode(cell) {
  const held = cell.get("value");
  const node = held instanceof Map ? valueNode(held.get("value")) : el("span", { class: "quiet" }, cell.get("text") ?? "");
  return cell.get("marked") === true ? el("div", { class: "marked" }, el("span", { class: "unseen" }, "changed: "), node) : node;
}

function valueNode(value) {
  return scalarText(value) === null ? el("code", {}, lineText(value, 2000)) : scalarNode(value);
}
