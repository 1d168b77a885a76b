// The page Overview of a device's file: what waits and why, collections, the latest syncs.
import { el, empty, errorPlace, every, heading, page, refill, table } from "../js/dom.js";
import { getDocuments } from "../js/api.js";
import { at, plain } from "../js/ejson.js";
import { lineText } from "../js/shell-text.js";
import { number, shortNode } from "../js/units.js";
import { storyOf } from "../js/write.js";
import { passTable } from "./passes.js";
import { prose } from "./prose.js";

export const title = "Overview";
const refreshMS = 2000;
const columns = { documents: "Documents", synced: "Synced", pending: "Pending", toFetch: "To fetch", paused: "Paused", rejected: "Rejected" };

export async function show(main, route, { signal }) {
  const error = errorPlace(), body = el("div", { "aria-busy": "true" });
  let last = null;
  main.append(heading(title), error.node, body);
  await every(refreshMS, signal, async () => {
    try {
      const answer = await getDocuments("/api/device/overview", signal);
      error.clear();
      const text = lineText(answer, Infinity);
      if (text !== last) refill(body, content(answer));
      last = text;
    } catch (trouble) {
      if (!signal.aborted) error.show(trouble);
    } finally {
      body.setAttribute("aria-busy", "false");
    }
  });
}

function content(answer) {
  const collections = answer.get("collections"), remarks = answer.get("remarks");
  const isSynced = answer.get("isNeverSynced") !== true;
  const sum = (name) => collections.reduce((total, each) => total + plain(each.get(name)), 0);
  const tile = (text, value, warns, ...link) => el("section", { class: `tile ${warns ? "warns" : ""}` },
    el("h2", {}, el("a", { href: page(...link) }, text)), el("p", { class: "big" }, number(value)));
  const shown = isSynced ? Object.entries(columns) : [["documents", columns.documents]];
  return [
    el("div", { class: "tiles" }, tile("Documents", sum("documents"), false, "data"),
      isSynced && [
        tile("Pending", sum("pending"), sum("pending") > 0, "overview"), tile("Paused", sum("paused"), sum("paused") > 0, "overview"),
        tile("Rejected", sum("rejected"), sum("rejected") > 0, "overview"), tile("Conflicts", plain(answer.get("conflicts")), false, "conflicts"),
      ]),
    el("h2", {}, "What waits"),
    !isSynced ? empty("This store was never synced.", "Its documents are on this device only.")
      : remarks.length ? table("What waits, and what helps", [
        { title: "State", cell: (each) => el("span", { class: `kind ${each.get("state") === "pending" ? "update" : "denied"}` }, each.get("state")) },
        { title: "What", cell: (each) => place(each) },
        { title: "Why, and what helps", kind: "long", cell: (each) => prose(each.get("text")) },
      ], remarks) : empty("Nothing waits.", "All changes of this device were sent."),
    el("h2", {}, "Collections"),
    collections.length ? table("Collections", [
      { title: "Collection", cell: (each) => collectionLink(String(each.get("collection"))) },
      ...shown.map(([name, text]) => ({ title: text, kind: "number", cell: (each) => number(plain(each.get(name))) })),
    ], collections) : empty("The store holds no collection."),
    isSynced && [el("h2", {}, "Latest syncs"), passTable(answer.get("groups"))],
  ];
}

function collectionLink(name) {
  const dot = name.indexOf(".");
  return el("a", { href: page("data", name.slice(0, dot), name.slice(dot + 1)) }, shortNode(name, 80));
}

function place(remark) {
  const name = String(remark.get("collection")), id = at(remark, "_id", "value");
  return id === undefined ? shortNode(name, 80)
    : el("a", { href: storyOf(name, id) }, shortNode(`${name} ${lineText(id, 60)}`, 120));
}
