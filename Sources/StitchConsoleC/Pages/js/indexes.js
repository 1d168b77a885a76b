// A collection's indexes and their use.
import { el, empty, errorPlace, table } from "./dom.js";
import { list } from "./api.js";
import { at, plain } from "./ejson.js";
import { lineText } from "./shell-text.js";
import { ago, number, shortNode } from "./units.js";

const ordinary = new Set(["v", "key", "name", "ns"]);

export async function showIndexes(body, database, collection, route, { signal }) {
  const error = errorPlace();
  body.append(error.node);
  let indexes, uses = new Map();
  try {
    indexes = await list(database, { listIndexes: collection }, signal);
  } catch (trouble) {
    return error.show(trouble);
  }
  try {
    const stats = await list(database, { aggregate: collection, pipeline: [{ $indexStats: {} }], cursor: {} }, signal);
    uses = new Map(stats.map((each) => [each.get("name"), each.get("accesses")]));
  } catch (trouble) {
    error.show(`The use of the indexes is unknown: ${trouble.message}`);
  }
  if (!indexes.length) return body.append(empty("The collection has no index."));
  body.append(table("Indexes", [
    { title: "Name", cell: (each) => el("code", {}, shortNode(each.get("name"))) },
    { title: "Keys", cell: (each) => el("code", {}, lineText(each.get("key"), 200)) },
    { title: "Options", cell: (each) => options(each) },
    { title: "Used", kind: "number", cell: (each) => {
      const operations = plain(at(uses.get(each.get("name")), "ops"));
      return operations === undefined ? "unknown" : operations === 0 ? "never" : `${number(operations)} times`;
    } },
    { title: "Counted since", cell: (each) => {
      const since = plain(at(uses.get(each.get("name")), "since"));
      return since === undefined ? "unknown" : ago(since);
    } },
  ], indexes), uses.size && ![...uses.values()].some(Boolean)
    ? el("p", { class: "hint" }, "This server does not count the uses of an index. The plan of a query names the index that it uses.")
    : el("p", { class: "hint" }, "An index that is never used costs time at each write."));
}

function options(index) {
  const texts = [...index].filter(([key]) => !ordinary.has(key)).map(([key, value]) => value === true ? key : `${key}: ${lineText(value, 120)}`);
  return texts.length ? texts.join(", ") : "none";
}
