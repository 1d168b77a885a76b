// The page Operations: what runs now, the slowest first.
import { button, el, empty, errorPlace, every, heading, refill, table } from "./dom.js";
import { command, getDocuments } from "./api.js";
import { confirmAction } from "./dialog.js";
import { plain } from "./ejson.js";
import { lineText } from "./shell-text.js";
import { ago, count, duration, shortNode } from "./units.js";

export const title = "Operations";
const slowMicroseconds = 1_000_000;

export async function show(main, route, { signal }) {
  const state = el("p", { class: "quiet", role: "status" });
  const error = errorPlace(), slowError = errorPlace(), body = el("div", {}), slow = el("div", {});
  let isPaused = false;
  const pause = button("Pause", () => {
    isPaused = !isPaused;
    pause.setAttribute("aria-pressed", String(isPaused));
    if (!isPaused) refresh();
  }, { "aria-pressed": "false" });
  main.append(heading(title, state, el("span", { class: "spring" }), pause), el("h2", {}, "Running now"), error.node, body,
    el("h2", {}, "Slowest since the start"), el("p", { class: "hint" }, "With the names of the filter's fields, without values. Explain such a query on the page Data."), slowError.node, slow);

  async function refresh() {
    if (isPaused) return;
    try {
      const reply = await command("admin", { currentOp: 1 }, signal);
      error.clear();
      const running = reply.get("inprog").filter((each) => each.get("opid") !== undefined && !("currentOp" in asObject(each.get("command"))))
        .sort((a, b) => micros(b) - micros(a));
      const text = count(running.length, "running operation");
      if (state.textContent !== text) state.textContent = text;
      refill(body, running.length ? operationTable(running)
        : empty("No operation runs at the moment.", "The page looks again every two seconds and lists what takes longer."));
    } catch (trouble) {
      if (!signal.aborted) error.show(trouble);
    }
  }

  function operationTable(running) {
    return table("Running operations, the slowest first", [
      { title: "Runs for", kind: "number", cell: (each) => duration(micros(each)) },
      { title: "Operation", cell: (each) => [el("code", {}, shortNode(each.get("op") ?? each.get("type") ?? "unknown", 40)), el("div", { class: "quiet" }, shortNode(each.get("desc") ?? "", 60))] },
      { title: "Collection", cell: (each) => shortNode(each.get("ns") || "none", 60) },
      { title: "Command", kind: "long", cell: (each) => el("code", {}, lineText(each.get("command") ?? null, 240)) },
      { title: "User", cell: (each) => usersText(each.get("effectiveUsers")) },
      { title: "Client", kind: "tight", cell: (each) => el("code", {}, shortNode(each.get("client") ?? "unknown", 60)) },
      { title: "Stop", cell: (each) => {
        const id = lineText(each.get("opid"), 40);
        return button("Stop…", () => stop(each, id), { "aria-label": `Stop operation ${id}`, data: { key: id } });
      } },
    ], running, { rowClass: (each) => micros(each) > slowMicroseconds ? "slow" : null });
  }

  async function stop(operation, id) {
    const done = await confirmAction("Stop the operation?", [
      `Operation ${id} (${lineText(operation.get("command") ?? null, 120)}) is interrupted.`,
      "Its client gets an error. A device tries again by itself with its next pass.",
    ], "Stop the operation", async () => { await command("admin", { killOp: 1, op: operation.get("opid") }); });
    if (done) refresh();
  }

  async function refreshSlow() {
    if (isPaused) return;
    try {
      const found = (await getDocuments("/api/slow", signal)).get("slow");
      slowError.clear();
      refill(slow, found.length ? slowTable(found) : empty("No command took longer than a millisecond."));
    } catch (trouble) {
      if (!signal.aborted) slowError.show(trouble);
    }
  }

  await Promise.all([every(2000, signal, refresh), every(5000, signal, refreshSlow)]);
}

function slowTable(found) {
  return table("The slowest commands since the start", [
    { title: "Took", kind: "number", cell: (each) => duration(plain(each.get("microseconds"))) },
    { title: "Command", cell: (each) => el("code", {}, shortNode(each.get("command"), 40)) },
    { title: "Collection", cell: (each) => shortNode(each.get("namespace"), 60) },
    { title: "Fields", cell: (each) => each.get("fields").length ? shortNode(each.get("fields").join(", "), 120) : el("span", { class: "quiet" }, "none") },
    { title: "User", cell: (each) => shortNode(each.get("user") ?? "none", 60) },
    { title: "App", cell: (each) => shortNode(each.get("app") ?? "unknown", 60) },
    { title: "When", cell: (each) => ago(plain(each.get("time"))) },
  ], found, { rowClass: (each) => plain(each.get("microseconds")) > slowMicroseconds ? "slow" : null });
}

function asObject(map) { return map instanceof Map ? Object.fromEntries(map) : {}; }

function micros(operation) {
  const exact = plain(operation.get("microsecs_running"));
  return Number.isFinite(exact) ? exact : (plain(operation.get("secs_running")) || 0) * 1e6;
}

function usersText(users) {
  if (!Array.isArray(users) || !users.length) return el("span", { class: "quiet" }, "none");
  return shortNode(users.map((each) => `${each.get("user")} (${each.get("db")})`).join(", "), 80);
}
