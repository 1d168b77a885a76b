// A query plan as nested boxes.
import { el } from "./dom.js";
import { planPicture } from "./plan-picture.js";
import { at, plain } from "./ejson.js";
import { lineText } from "./shell-text.js";
import { number, short } from "./units.js";

const sentences = {
  COLLSCAN: "Reads all documents of the collection", IXSCAN: "Reads an index", IDHACK: "Looks up one _id",
  FETCH: "Reads the documents that the index names", SORT: "Sorts in memory", SORT_MERGE: "Merges sorted inputs",
  OR: "Joins the inputs", LIMIT: "Stops after the limit", SKIP: "Skips the first documents",
  PROJECTION_DEFAULT: "Chooses fields", PROJECTION_SIMPLE: "Chooses fields", COUNT_SCAN: "Counts keys of an index",
  DISTINCT_SCAN: "Reads each different key once", EOF: "The collection does not exist",
};
const depthMax = 40;

/** Returns the plan of the reply of `explain`. `tookMS` is the time that the browser measured. */
export function planNode(reply, tookMS) {
  const stats = at(reply, "executionStats");
  const root = at(stats, "executionStages") ?? at(reply, "queryPlanner", "winningPlan");
  const [returned, keys, documents] = ["nReturned", "totalKeysExamined", "totalDocsExamined"].map((key) => plain(at(stats, key)));
  const rejected = at(reply, "queryPlanner", "rejectedPlans") ?? [];
  return el("section", { class: "plan" },
    el("h2", { tabindex: -1 }, "Query plan"),
    el("dl", { class: "facts" },
      fact("Documents returned", number(returned)), fact("Documents read", number(documents)),
      fact("Keys read", number(keys)), fact("Answered in", `${number(tookMS)} ms`)),
    el("p", { class: "note" }, advice(root, returned, documents)),
    root instanceof Map ? [el("div", { class: "scroll pictures" }, planPicture(root)), el("h3", {}, "Details"), box(root, 0)] : null,
    rejected.length > 0 && el("details", {}, el("summary", {}, `Other plans that were possible: ${rejected.length}`), rejected.map((each) => box(each, 0))));
}

function fact(name, value) { return el("div", {}, el("dt", {}, name), el("dd", {}, value)); }

function box(stage, depth) {
  const name = String(stage.get("stage") ?? "unknown");
  const details = [
    ["index", stage.get("indexName")], ["keys", stage.get("keyPattern")], ["direction", stage.get("direction")],
    ["bounds", stage.get("indexBounds")], ["filter", stage.get("filter")], ["sort", stage.get("sortPattern")],
  ].filter((each) => each[1] !== undefined);
  const counts = [
    ["keysExamined", "keys read"], ["docsExamined", "documents read"], ["nReturned", "returned"], ["executionTimeMillisEstimate", "ms"],
  ].map(([key, text]) => [plain(stage.get(key)), text]).filter(([value, text]) => Number.isFinite(value) && !(text === "ms" && value === 0));
  const inputs = [stage.get("inputStage"), ...(stage.get("inputStages") ?? [])].filter((each) => each instanceof Map);
  return el("div", { class: `stage ${name === "COLLSCAN" || name === "SORT" ? "slow" : ""}` },
    el("p", {}, el("strong", {}, name), " ", el("span", { class: "quiet" }, sentences[name] ?? "")),
    counts.length > 0 && el("p", {}, counts.map(([value, text], i) => [i ? " · " : "", el("b", {}, number(value)), ` ${text}`])),
    details.map(([key, value]) => el("p", { class: "detail" }, el("span", { class: "quiet" }, key, " "),
      el("code", {}, key === "bounds" ? boundsText(value) : typeof value === "string" ? value : lineText(value, 300)))),
    depth < depthMax && inputs.map((each) => box(each, depth + 1)));
}

/** Returns bounds such as `owner: ["ann", "ann"]`; the server writes an interval as a text. */
function boundsText(bounds) {
  if (!(bounds instanceof Map)) return lineText(bounds, 300);
  return short([...bounds].map(([key, each]) => `${key}: ${Array.isArray(each) ? each.join(", ") : lineText(each)}`).join("; "), 300);
}

function advice(root, returned, documents) {
  const stages = names(root);
  if (stages.includes("EOF")) return "The collection does not exist.";
  if (stages.includes("COLLSCAN") && documents > Math.max(100, returned * 2)) {
    return "No index serves the filter, so the server reads every document. An index on the fields of the filter makes this fast.";
  }
  if (stages.includes("COLLSCAN")) return "The server reads the collection without an index. That is right for small collections and for queries without a filter.";
  if (stages.includes("SORT")) return "An index finds the documents; the server sorts them in memory. An index that ends with the sort's fields avoids that.";
  return "An index serves the query.";
}

function names(stage, depth = 0) {
  if (!(stage instanceof Map) || depth > depthMax) return [];
  return [String(stage.get("stage")), ...[stage.get("inputStage"), ...(stage.get("inputStages") ?? [])].flatMap((each) => names(each, depth + 1))];
}
