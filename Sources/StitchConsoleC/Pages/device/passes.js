// The page Syncs of a device's file: what the latest ones did; older ones are summed.
import { el, empty, errorPlace, heading, refill, table } from "../js/dom.js";
import { getDocuments } from "../js/api.js";
import { plain } from "../js/ejson.js";
import { ago, number } from "../js/units.js";

export const title = "Syncs";

export async function show(main, route, { signal }) {
  const error = errorPlace(), body = el("div", { "aria-busy": "true" });
  main.append(heading(title), error.node, body);
  try {
    const answer = await getDocuments("/api/device/passes", signal);
    refill(body, answer.get("isNeverSynced") === true ? empty("This store was never synced.", "Its documents are on this device only.")
      : [el("p", { class: "quiet" }, "Only syncs that changed something; the older ones are summed by hour or by day."), passTable(answer.get("groups"))]);
  } catch (trouble) {
    if (!signal.aborted) error.show(trouble);
  } finally {
    body.setAttribute("aria-busy", "false");
  }
}

/** Returns the table of syncs, a row for one or for the sum of several. */
export function passTable(groups) {
  if (!groups.length) return empty("No sync changed anything yet.");
  const names = groups[0].get("counts").map((each) => String(each.get("name")));
  return table("Syncs, newest first", [
    { title: "When", cell: (each) => when(each) },
    { title: "Syncs", kind: "number", cell: (each) => number(plain(each.get("passes"))) },
    ...names.map((name, i) => ({
      title: name[0].toUpperCase() + name.slice(1), kind: "number",
      cell: (each) => number(plain(each.get("counts")[i].get("count"))),
    })),
    { title: "Which errors", cell: (each) => each.get("errors").join(", ") || el("span", { class: "quiet" }, "none") },
  ], groups);
}

function when(group) {
  const first = plain(group.get("first")), last = plain(group.get("last"));
  return first === last ? ago(last) : [ago(first), " to ", ago(last)];
}
