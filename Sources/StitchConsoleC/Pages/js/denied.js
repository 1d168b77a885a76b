// The page Denied writes: the writes that the rules refused.
import { el, empty, errorPlace, every, field, heading, page, refill, table } from "./dom.js";
import { getDocuments } from "./api.js";
import { plain } from "./ejson.js";
import { storyOf } from "./write.js";
import { lineText } from "./shell-text.js";
import { ago, count, shortNode } from "./units.js";

export const title = "Denied writes";

export async function show(main, route, { signal, session }) {
  const state = el("p", { class: "quiet", role: "status" });
  const error = errorPlace(), body = el("div", {});
  const filter = el("input", { type: "search", autocomplete: "off", spellcheck: "false", oninput: () => draw() });
  main.append(heading(title, state), field("Show only user, collection or cause with", filter), error.node, body);
  let denied = [];
  let shown = null;

  function draw() {
    const text = filter.value.trim().toLowerCase();
    const rows = denied.filter((each) => !text
      || ["user", "namespace", "cause", "field", "message"].some((key) => String(each.get(key) ?? "").toLowerCase().includes(text)));
    const summary = count(rows.length, "denied write");
    if (state.textContent !== summary) state.textContent = summary;
    refill(body, rows.length ? deniedTable(rows) : denied.length
      ? empty("No denied write has this text.", "Clear the field to see all.")
      : empty("No write was denied.", session.server?.rules === false
        ? "This server has no rules, so it denies no write. Start it with --rules FOLDER to set who may write what."
        : "A write that the rules refuse appears here with its cause."));
  }

  await every(3000, signal, async () => {
    try {
      const answer = await getDocuments("/api/denied", signal);
      error.clear();
      denied = answer.get("denied");
      const first = `${denied.length} ${plain(denied[0]?.get("time"))}`;
      if (first !== shown) draw();
      shown = first;
    } catch (trouble) {
      if (!signal.aborted) error.show(trouble);
    }
  });
}

function deniedTable(rows) {
  return table("Denied writes, newest first", [
    { title: "When", cell: (each) => ago(plain(each.get("time"))) },
    { title: "User", cell: (each) => [shortNode(each.get("user") ?? "none", 60), el("div", { class: "quiet" }, each.get("role") ? `role ${each.get("role")}` : "no role")] },
    { title: "Document", cell: (each) => [shortNode(each.get("namespace"), 60), el("div", {}, el("code", {}, idText(each, 60)))] },
    { title: "Cause", cell: (each) => [String(each.get("cause")), each.get("field") && el("div", { class: "quiet" }, "field ", shortNode(each.get("field"), 60))] },
    { title: "Message", kind: "long", cell: (each) => shortNode(each.get("message") ?? "", 240) },
    { title: "Look closer", kind: "tight", cell: (each) => each.get("hasLongID")
      ? el("span", { class: "quiet" }, "its _id is too long to keep") : links(each) },
  ], rows);
}

function idText(each, length) {
  return each.get("hasLongID") ? "(long)" : lineText(each.get("documentID") ?? null, length);
}

function links(each) {
  return [el("a", {
    class: "button", "aria-label": `Why was the write of ${each.get("user")} to ${each.get("namespace")} denied?`,
    data: { key: `${plain(each.get("time"))} ${idText(each)}` },
    href: page("rules", {
      user: each.get("user") ?? "", database: each.get("database") ?? String(each.get("namespace")).split(".")[0],
      namespace: String(each.get("namespace")), id: idText(each, 10_000),
    }),
  }, "Why?"), " ", el("a", {
    class: "button", "aria-label": `Story of ${idText(each, 60)} in ${each.get("namespace")}`,
    href: storyOf(each.get("namespace"), each.get("documentID")),
  }, "Story")];
}
