// The page Write of a device's file: what happened here to one document.
import { el, empty, errorPlace, field, heading, page, refill, table } from "../js/dom.js";
import { getDocuments } from "../js/api.js";
import { parse, plain, stringify } from "../js/ejson.js";
import { jsonBlock } from "../js/document-view.js";
import { lineText } from "../js/shell-text.js";
import { ago, count, shortNode } from "../js/units.js";
import { prose } from "./prose.js";

export const title = "Write";

export async function show(main, route, { signal }) {
  const input = (name, placeholder) => el("input", {
    value: route.query.get(name) ?? "", placeholder, required: true, autocomplete: "off", spellcheck: "false",
  });
  const namespace = input("namespace", "app.todos"), id = input("id", "ObjectId('…') or \"a text\" or 12");
  const state = el("p", { class: "quiet", role: "status" });
  const error = errorPlace(), body = el("div", { "aria-busy": "false" });
  main.append(heading(title, state),
    el("form", { class: "query", "aria-label": "Which document", onsubmit(event) {
      event.preventDefault();
      history.replaceState(null, "", page("write", { namespace: namespace.value, id: id.value }));
      run();
    } }, field("Collection", namespace), field("_id of the document", id),
    el("div", { class: "actions" }, el("button", { type: "submit", class: "primary" }, "Show the story"))),
    error.node, body);
  if (namespace.value && id.value) return await run();
  refill(body, empty("No document is chosen.", "Name a collection and an _id, or open the story from Overview, Data or Conflicts."));

  async function run() {
    error.clear();
    let parsed;
    try {
      parsed = parse(id.value);
    } catch (trouble) {
      return error.show(`The _id: ${trouble.message}`);
    }
    body.setAttribute("aria-busy", "true");
    try {
      const query = new URLSearchParams({ namespace: namespace.value, id: stringify(parsed) });
      const story = await getDocuments(`/api/device/story?${query}`, signal);
      state.textContent = count(story.get("steps").length, "step");
      refill(body, content(story));
    } catch (trouble) {
      if (!signal.aborted) error.show(trouble);
    } finally {
      body.setAttribute("aria-busy", "false");
    }
  }
}

function content(story) {
  const document = story.get("document"), steps = story.get("steps"), rejected = story.get("rejected");
  return [
    el("p", { class: "note" }, el("strong", {}, "Now: "), prose(story.get("waitsFor"))),
    rejected.length > 0 && [el("h2", {}, "Rejected writes"), rejected.map(rejectedNode)],
    el("h2", {}, "What happened"),
    steps.length ? table("Steps, newest first", [
      { title: "When", cell: (each) => ago(plain(each.get("at"))) },
      { title: "What", kind: "long", cell: (each) => [shortNode(each.get("text"), 400), each.has("fields") && fieldsNode(each.get("fields"))] },
    ], steps) : empty("This device remembers nothing of the document.", "It keeps the newest steps only."),
    el("h2", {}, "The document on this device"),
    document instanceof Map ? jsonBlock(document) : el("p", {}, "The document does not exist here."),
  ];
}

function fieldsNode(fields) {
  const text = (each, name) => each.has(name) ? lineText(each.get(name), 120) : "absent";
  return el("ul", { class: "places" }, fields.map((each) => el("li", {}, el("code", {}, shortNode(each.get("name"), 80)),
    `: base ${text(each, "base")}, local ${text(each, "local")}, remote ${text(each, "remote")}, result ${text(each, "result")}`)));
}

function rejectedNode(write) {
  const wanted = write.get("document");
  return el("section", {}, el("p", {}, shortNode(write.get("reason"), 400)),
    wanted instanceof Map && [el("p", { class: "quiet" }, "What was wanted:"), jsonBlock(wanted)]);
}
