// The page Changes: the changes of a database as they happen.
import { button, el, empty, errorPlace, field, heading, page, refill } from "./dom.js";
import { command, follow } from "./api.js";
import { at, parseReply, plain } from "./ejson.js";
import { cutNote, jsonBlock, takeCutSize } from "./document-view.js";
import { storyOf } from "./write.js";
import { lineText } from "./shell-text.js";
import { ago, count, shortNode } from "./units.js";

export const title = "Changes";
const keptMax = 500;

export async function show(main, route, { signal }) {
  const [database, collection = ""] = route.parts;
  const choice = el("select", {});
  const name = el("input", { value: collection, placeholder: "all collections", autocomplete: "off", spellcheck: "false" });
  const filter = el("input", { type: "search", placeholder: "operation, collection, _id or value", autocomplete: "off", spellcheck: "false", oninput: () => draw() });
  const state = el("p", { class: "quiet", role: "status" });
  const error = errorPlace(), list = el("ol", { class: "changes", "aria-label": "Changes, newest first" }), none = el("div", {});
  let changes = [], missed = [], isPaused = false, open = new Set(), isStale = false;
  const pause = button("Pause", () => {
    isPaused = !isPaused;
    pause.setAttribute("aria-pressed", String(isPaused));
    if (!isPaused) { keep(missed); missed = []; }
    draw();
  }, { "aria-pressed": "false" });
  const clear = button("Clear", () => { changes = []; missed = []; draw(); });
  main.append(heading(title, state, el("span", { class: "spring" }), pause, clear),
    el("form", { class: "query", "aria-label": "What to follow", onsubmit(event) {
      event.preventDefault();
      location.hash = page("changes", choice.value, ...(name.value.trim() ? [name.value.trim()] : []));
    } }, field("Database", choice), field("Collection", name),
    el("div", { class: "actions" }, el("button", { type: "submit", class: "primary" }, "Follow"))),
    field("Show only changes with", filter), error.node, none, list);
  try {
    const reply = await command("admin", { listDatabases: 1, nameOnly: true }, signal);
    for (const each of reply.get("databases").map((one) => String(one.get("name")))) {
      choice.append(el("option", { value: each, selected: each === database }, each));
    }
  } catch (trouble) {
    if (!signal.aborted) error.show(trouble);
    return;
  }
  if (!database) return draw();

  const query = new URLSearchParams({ database });
  if (collection) query.set("collection", collection);
  follow(`/api/changes?${query}`, signal, {
    open() { error.clear(); isStale = true; },
    change(data) {
      const event = parseReply(data);
      const change = { event, cutFrom: takeCutSize(event), text: data.toLowerCase(), arrived: Date.now() };
      if (isPaused) { missed.push(change); if (missed.length > keptMax) missed.shift(); } else keep([change]);
      isStale = true;
    },
    error(data) {
      let message = "No connection to the server. The console tries again…";
      if (data) { try { message = JSON.parse(data).error?.message ?? JSON.parse(data).message ?? data; } catch { message = data; } }
      error.show(message);
    },
  });
  // Many changes a second are drawn at once.
  const timer = setInterval(() => { if (isStale) { isStale = false; draw(); } }, 250);
  signal.addEventListener("abort", () => clearInterval(timer));
  draw();

  function keep(fresh) { changes = [...[...fresh].reverse(), ...changes].slice(0, keptMax); }

  function draw() {
    const text = filter.value.trim().toLowerCase();
    const shown = changes.filter((each) => !text || each.text.includes(text));
    state.textContent = !database ? "" : isPaused ? `Paused, ${count(missed.length, "new change")}` : `Live, ${count(shown.length, "change")}`;
    refill(none, shown.length ? null : !database ? empty("Nothing is followed.", "Choose a database and press Follow.")
      : changes.length ? empty("No change has this text.", "Clear the field to see all.")
        : empty("No change happened yet.", "A write of a device, of a client or of this console appears here at once."));
    refill(list, shown.slice(0, 200).map(changeNode));
  }

  function changeNode(change) {
    const { event } = change;
    const kind = String(event.get("operationType"));
    const id = at(event, "documentKey", "_id");
    const time = plain(at(event, "wallTime"));
    const details = el("details", { open: open.has(change), ontoggle() {
      if (details.open) { open.add(change); if (details.childElementCount < 2) details.append(...insides(change)); } else open.delete(change);
    } }, el("summary", { data: { key: lineText(event.get("_id") ?? null, 500) } },
      el("span", { class: `kind ${/^[a-z]+$/i.test(kind) ? kind : ""}` }, kind), " ",
      shortNode([at(event, "ns", "db"), at(event, "ns", "coll")].filter(Boolean).join("."), 60), " ",
      id !== undefined && el("code", {}, lineText(id, 48)), " ", el("span", { class: "quiet" }, summary(event)), " ",
      ago(typeof time === "number" ? time : change.arrived)));
    if (details.open) details.append(...insides(change));
    return el("li", {}, details);
  }

  /** Returns what an opened change shows: a link to the document's story, and the event. */
  function insides({ event, cutFrom }) {
    const id = at(event, "documentKey", "_id"), name = `${at(event, "ns", "db")}.${at(event, "ns", "coll")}`;
    const link = id === undefined ? [] : [el("p", {}, el("a", { href: storyOf(name, id) }, "Story of the document"))];
    const note = cutFrom > 0 ? [cutNote(cutFrom, "change", "The story of the document has a button that shows the whole document as it is now.")] : [];
    return [...link, ...note, jsonBlock(event)];
  }

  function summary(event) {
    const update = event.get("updateDescription");
    if (!(update instanceof Map)) return "";
    const changed = [...(update.get("updatedFields") ?? new Map()).keys()], removed = update.get("removedFields") ?? [];
    return [changed.length && `sets ${changed.slice(0, 5).join(", ").slice(0, 120)}`, removed.length && `removes ${removed.slice(0, 5).join(", ").slice(0, 120)}`].filter(Boolean).join("; ");
  }
}
