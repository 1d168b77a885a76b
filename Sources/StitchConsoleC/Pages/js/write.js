// The page Write: the story of one document's writes, accepted and denied.
import { button, el, empty, errorPlace, page, table } from "./dom.js";
import { at, plain } from "./ejson.js";
import { cutNote, documentTree, jsonBlock, takeCutSize } from "./document-view.js";
import { fetchDocument } from "./document-edit.js";
import { lineText } from "./shell-text.js";
import { showStory } from "./story-form.js";
import { ago, shortNode } from "./units.js";

export const title = "Write";
const names = { insert: "Inserted", update: "Updated", replace: "Replaced", delete: "Deleted", denied: "Denied" };

/** Returns the address of the story of a document. */
export function storyOf(namespace, id) { return page("write", { namespace: String(namespace), id: lineText(id ?? null, 10_000) }); }

export async function show(main, route, { signal }) {
  await showStory(main, route, signal, {
    title, hint: "Name a collection and an _id, or open the story from Data, Changes or Denied writes.",
    path: "/api/write", steps: allSteps, content,
  });
}

/** Returns the changes and the denied writes, the newest first. */
function allSteps(story) {
  const denied = story.get("denied").map((each) => new Map([...each, ["operation", "denied"]]));
  return [...story.get("changes"), ...denied].sort((a, b) => (plain(b.get("time")) ?? 0) - (plain(a.get("time")) ?? 0));
}

function content(story, steps) {
  const document = story.get("document");
  return [
    story.get("isComplete") === false && el("p", { class: "note" }, "Older changes may be missing: the change history is bounded."),
    steps.length ? table("Writes of the document, newest first", [
      { title: "When", cell: (each) => ago(plain(each.get("time"))) },
      { title: "What", cell: (each) => el("span", { class: `kind ${kind(each)}` }, names[kind(each)] ?? shortNode(each.get("operation"), 40)) },
      { title: "Version", kind: "tight", cell: (each) => versionText(each.get("version")) },
      { title: "By", cell: (each) => author(each, story) },
      { title: "Fields", kind: "long", cell: (each) => fields(each) },
    ], steps, { rowClass: (each) => kind(each) === "denied" ? "denied" : null })
      : empty("The server remembers no write of this document.", "The change history is bounded: older writes are no longer in it."),
    story.get("readers")?.length > 0 && [el("h2", {}, "Who has seen it"), el("p", { class: "quiet" }, "The devices that follow the collection, and the time up to which each has all of its changes."),
      table("Devices that follow the collection", [
        { title: "Device", cell: (each) => [shortNode(each.get("user") ?? "not signed in", 60), ` with ${appText(each)}`, each.get("device") && el("div", { class: "quiet" }, "device ", el("code", {}, shortNode(each.get("device"), 20)))] },
        { title: "Newest change", kind: "tight", cell: (each) => each.get("hasSeen") === true ? "seen" : el("span", { class: "quiet" }, "not yet") },
        { title: "Has all changes up to", cell: (each) => ago(plain(each.get("upTo"))) },
        { title: "State", kind: "tight", cell: (each) => each.get("connected") === true ? "connected" : el("span", { class: "quiet" }, "not connected") },
      ], story.get("readers"))],
    el("h2", {}, "The document now"),
    document instanceof Map ? documentNode(story, document) : el("p", {}, "The document does not exist."),
  ];
}

/** Returns the document as text; with a way to the whole one if the server cut it. */
function documentNode(story, document) {
  const cutFrom = takeCutSize(story);
  if (cutFrom === 0) return jsonBlock(document);
  const error = errorPlace();
  const all = button("Show all", async () => {
    error.clear();
    all.disabled = true;
    try {
      const [database, ...collection] = String(story.get("namespace")).split(".");
      const whole = await fetchDocument(database, collection.join("."), story.get("id"));
      if (!whole) throw new Error("The document no longer exists. Another client deleted it.");
      node.replaceChildren(documentTree(whole, "The document now"));
    } catch (trouble) { error.show(trouble); }
    all.disabled = false;
  }, { class: "plain", "aria-label": "Show all of the document" });
  const node = el("div", {}, cutNote(cutFrom, "document", all, error.node), jsonBlock(document));
  return node;
}

function kind(step) {
  const name = String(step.get("operation"));
  return /^[a-z]+$/.test(name) ? name : "";
}

function versionText(version) {
  const number = plain(at(version, "v"));
  return number === undefined ? el("span", { class: "quiet" }, "none") : String(number);
}

function appText(device) { return [device.get("app") ?? "unknown app", device.get("appVersion")].filter(Boolean).join(" "); }

function author(step, story) {
  if (kind(step) === "denied") {
    return [shortNode(step.get("user") ?? "none", 60), el("div", { class: "quiet" }, step.get("role") ? `role ${step.get("role")}` : "no role")];
  }
  const version = step.get("version");
  if (!(version instanceof Map)) return el("span", { class: "quiet" }, "a client without sync");
  const attempt = attemptName(version.get("op"));
  if (attempt === undefined) return el("span", { class: "quiet" }, "unknown");
  // What a device says of itself; another one may say the same.
  const known = (story.get("devices") ?? []).filter((each) => each.get("instances").includes(attempt.device));
  const note = el("div", { class: "quiet" }, `operation ${attempt.number}`);
  if (!known.length) return ["device ", el("code", {}, attempt.device), note];
  return [...known.map((each) => el("div", {}, shortNode(each.get("user") ?? "not signed in", 60), ` with ${appText(each)}`,
    el("div", { class: "quiet" }, "device ", el("code", {}, shortNode(each.get("device") ?? attempt.device, 20)), ", as the device says"))),
    known.length > 1 && el("div", { class: "quiet" }, `${known.length} devices say that they made it`), note];
}

// The 16 bytes of a version's `op`: the device and the number of its attempt, as the tool prints both.
function attemptName(op) {
  const base64 = op instanceof Map ? op.get("$binary")?.get?.("base64") : undefined;
  if (typeof base64 !== "string") return undefined;
  const hex = [...atob(base64)].map((byte) => byte.charCodeAt(0).toString(16).padStart(2, "0")).join("");
  if (hex.length !== 32) return undefined;
  return { device: BigInt(`0x${hex.slice(0, 16)}`).toString(16), number: BigInt(`0x${hex.slice(16)}`).toString() };
}

function fields(step) {
  if (kind(step) === "denied") return shortNode(step.get("message") ?? "", 240);
  const updated = step.get("updated") ?? [], removed = step.get("removed") ?? [];
  const parts = [updated.length && `sets ${updated.slice(0, 12).join(", ")}`, removed.length && `removes ${removed.slice(0, 12).join(", ")}`].filter(Boolean);
  if (parts.length) return shortNode(parts.join("; "), 240);
  return el("span", { class: "quiet" }, kind(step) === "delete" ? "the whole document" : kind(step) === "update" ? "only the version" : "all fields");
}
