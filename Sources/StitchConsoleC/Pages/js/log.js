// The page Log: the newest lines of the server's log.
import { button, el, empty, errorPlace, every, field, heading, refill } from "./dom.js";
import { get } from "./api.js";
import { ago, count, short } from "./units.js";

export const title = "Log";
const keptMax = 1000, shownMax = 500, textMax = 300;
const levels = ["info", "warning", "error"];

export async function show(main, route, { signal }) {
  const state = el("p", { class: "quiet", role: "status" });
  const error = errorPlace(), list = el("ol", { class: "log", "aria-label": "Lines, newest first", tabindex: 0 }), none = el("div", {});
  const filter = el("input", { type: "search", autocomplete: "off", spellcheck: "false", oninput: () => draw() });
  const level = el("select", { onchange: () => draw() }, el("option", { value: "info" }, "all lines"),
    el("option", { value: "warning" }, "warnings and errors"), el("option", { value: "error" }, "errors"));
  const opened = new Set();
  let lines = [], last = 0, isPaused = false;
  const pause = button("Pause", () => {
    isPaused = !isPaused;
    pause.setAttribute("aria-pressed", String(isPaused));
    if (!isPaused) draw();
  }, { "aria-pressed": "false" });
  main.append(heading(title, state, el("span", { class: "spring" }), pause),
    el("div", { class: "query" }, field("Show", level), field("Only lines with", filter)), error.node, none, list);

  function draw() {
    const text = filter.value.trim().toLowerCase(), least = levels.indexOf(level.value);
    const shown = lines.filter((each) => levels.indexOf(each.level) >= least && (!text || String(each.text).toLowerCase().includes(text)));
    const summary = count(shown.length, "line") + (shown.length > shownMax ? `, the newest ${shownMax} shown` : "");
    if (state.textContent !== summary) state.textContent = summary;
    refill(none, shown.length ? null : lines.length ? empty("No line fits.", "Show all lines, or clear the field.")
      : empty("The log is empty.", "The server writes a line when it starts, when a sign-in fails and when something goes wrong."));
    refill(list, shown.slice(-shownMax).reverse().map((each) => el("li", { class: levels.includes(each.level) ? each.level : "info" },
      ago(each.time), " ", el("span", { class: "level" }, each.level), " ", textNode(each))));
    list.hidden = !shown.length;
  }

  function textNode({ number, text }) {
    if (text.length <= textMax || opened.has(number)) return el("span", { class: "text" }, text);
    return el("span", { class: "text" }, short(text, textMax), " ",
      button(`Show ${count(text.length, "character")}`, () => { opened.add(number); draw(); }, { class: "plain", data: { key: String(number) } }));
  }

  draw();
  await every(2000, signal, async () => {
    try {
      const answer = await get(`/api/log?after=${last}`, signal);
      error.clear();
      if (!answer.lines.length) return;
      lines = [...lines, ...answer.lines].slice(-keptMax);
      last = answer.lines.at(-1).number;
      if (!isPaused) draw();
    } catch (trouble) {
      if (!signal.aborted) error.show(trouble);
    }
  });
}
