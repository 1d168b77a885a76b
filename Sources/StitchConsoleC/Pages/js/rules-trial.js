// The dry run of changed rules over the server's users and documents.
import { el, empty, table } from "./dom.js";
import { plain } from "./ejson.js";
import { lineText } from "./shell-text.js";
import { count, number, shortNode } from "./units.js";

const changes = {
  visible: "sees documents that were hidden", invisible: "no longer sees documents",
  readable: "may read the field", hidden: "may no longer read the field",
  writable: "may write the field", notWritable: "may no longer write the field",
};

/** Returns the answer of `/api/rules/diff`: what changes for whom, with an example. */
export function trialNode(answer) {
  const rows = answer.get("differences").flatMap(rowsOf);
  const users = plain(answer.get("users")), documents = plain(answer.get("documents"));
  return el("section", {},
    el("h3", { tabindex: -1 }, "What the changed rules would change"),
    el("p", { class: "quiet" }, `Tried for ${count(users, "user")} over ${count(documents, "document")} of the collections whose rules differ.`),
    answer.get("notes").map((each) => el("p", { class: "note" }, shortNode(each, 300))),
    rows.length ? table("Differences", [
      { title: "User", cell: (row) => shortNode(row.user, 60) },
      { title: "Collection", cell: (row) => shortNode(row.collection, 60) },
      { title: "Change", cell: (row) => [changes[row.change], row.field && [" ", el("code", {}, shortNode(row.field, 60))]] },
      { title: "Documents", kind: "number", cell: (row) => number(row.documents) },
      { title: "Example", cell: (row) => el("code", {}, lineText(row.example, 60)) },
    ], rows) : empty("Nothing changes for these users and documents."));
}

function rowsOf(difference) {
  const base = { user: difference.get("user"), collection: difference.get("collection") };
  const row = (change, counted, field) => ({ ...base, change, field, documents: plain(counted.get("documents")), example: counted.get("example") ?? null });
  const whole = ["visible", "invisible"].map((each) => row(each, difference.get(each))).filter((each) => each.documents > 0);
  const fields = ["readable", "hidden", "writable", "notWritable"].flatMap((change) =>
    [...difference.get(change)].map(([field, counted]) => row(change, counted, field)));
  return [...whole, ...fields];
}
