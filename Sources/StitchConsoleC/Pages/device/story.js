// The page Write of a device's file: what happened here to one document.
import { el, empty, table } from "../js/dom.js";
import { plain } from "../js/ejson.js";
import { jsonBlock } from "../js/document-view.js";
import { lineText } from "../js/shell-text.js";
import { showStory } from "../js/story-form.js";
import { ago, shortNode } from "../js/units.js";
import { prose } from "./prose.js";

export const title = "Write";

export async function show(main, route, { signal }) {
  await showStory(main, route, signal, {
    title, hint: "Name a collection and an _id, or open the story from Overview, Data or Conflicts.",
    path: "/api/device/story", steps: (story) => story.get("steps"), content,
  });
}

function content(story, steps) {
  const document = story.get("document"), rejected = story.get("rejected");
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
