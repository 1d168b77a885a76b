// The page Overview: tiles with graphs of the last two minutes, and commands by kind.
import { el, empty, heading, page, refill, table } from "./dom.js";
import { follow } from "./api.js";
import { LineGraph, spanMS } from "./graph.js";
import { bytes, count, number } from "./units.js";

// The samples live as long as the document, so the graphs are full when the page is opened again.
const history = [];

const total = (sample) => Object.values(sample.commands ?? {}).reduce((sum, each) => sum + each, 0);
const tiles = [
  {
    title: "Devices online", value: (s) => s.devices, text: (s) => number(s.devices),
    note: (s) => `${count(s.connections, "connection")}, ${number(s.waiting)} waiting for changes`, page: ["devices"],
  },
  {
    title: "Commands per second", value: total, text: (s) => number(total(s)),
    note: (s) => count(s.cursors, "open cursor"), page: ["operations"],
  },
  {
    title: "Latency", value: (s) => s.latencyMS?.p99, text: (s) => `${number(s.latencyMS?.p99)} ms`,
    note: (s) => `99 of 100 commands are faster; median ${number(s.latencyMS?.median)} ms`, page: ["operations"],
  },
  {
    title: "Denied writes", value: (s, before) => before ? s.deniedWrites - before.deniedWrites : 0,
    text: (s) => number(s.deniedWrites), note: () => "since the server started; the graph shows new ones",
    page: ["denied"], warns: (s) => s.deniedWrites > (history[0]?.deniedWrites ?? 0),
  },
  {
    title: "Conflicts", value: (s, before) => before ? s.conflicts - before.conflicts : 0,
    text: (s) => number(s.conflicts), note: () => "shared by devices; the graph shows new ones", page: ["changes"],
  },
  {
    title: "Storage", value: (s) => s.storageBytes, text: (s) => bytes(s.storageBytes), note: () => "on disk", page: ["data"],
  },
];

function upstreamText(upstream) {
  if (!upstream.reachable) return ["Not reachable", "Devices keep working offline. Check the upstream and the network."];
  return [`${number(upstream.latencyMS)} ms`, `reachable, ${count(upstream.feeds, "change feed")}`];
}

export const title = "Overview";

export function show(main, route, { signal }) {
  const state = el("p", { class: "quiet", role: "status" }, "Waiting for the first numbers…");
  const graphs = tiles.map((tile) => new LineGraph(`${tile.title}, last 2 minutes`));
  const values = tiles.map(() => el("p", { class: "big" }, "–"));
  const notes = tiles.map(() => el("p", { class: "hint" }, " "));
  const nodes = tiles.map((tile, i) =>
    el("section", { class: "tile" },
      el("h2", {}, el("a", { href: page(...tile.page) }, tile.title)), values[i], graphs[i].node, notes[i]));
  const upstream = el("p", { class: "big" }, "–"), upstreamNote = el("p", { class: "hint" });
  const upstreamTile = el("section", { class: "tile", hidden: true }, el("h2", {}, "Upstream"), upstream, upstreamNote);
  const kinds = el("div", {});
  main.append(heading(title, state), el("div", { class: "tiles" }, nodes, upstreamTile),
    el("h2", {}, "Commands by kind"), kinds);

  function draw() {
    const sample = history.at(-1);
    if (!sample) return;
    tiles.forEach((tile, i) => {
      values[i].textContent = tile.text(sample);
      notes[i].textContent = tile.note(sample);
      nodes[i].classList.toggle("warns", tile.warns?.(sample) ?? false);
      graphs[i].draw(history.map((each, j) => ({ time: each.time, value: tile.value(each, history[j - 1]) })), sample.time);
    });
    // A server on a file has no upstream.
    upstreamTile.hidden = !sample.upstream;
    [upstream.textContent, upstreamNote.textContent] = sample.upstream ? upstreamText(sample.upstream) : ["", ""];
    upstreamTile.classList.toggle("warns", sample.upstream?.reachable === false);
    const rows = Object.entries(sample.commands ?? {}).filter((each) => each[1] > 0).sort((a, b) => b[1] - a[1]);
    const most = Math.max(...rows.map((each) => each[1]), 1);
    refill(kinds, rows.length === 0 ? empty("No command runs at the moment.", "Commands appear here as devices sync.")
      : table("Commands per second by kind", [
        { title: "Command", cell: (row) => el("code", {}, row[0]) },
        { title: "Per second", kind: "number", cell: (row) => number(row[1]) },
        { title: "Share", kind: "shares", cell: (row) => bar(row[1] / most) },
      ], rows, { isSmall: true }));
  }

  function bar(share) {
    const node = el("span", { class: "share", "aria-hidden": "true" });
    node.style.width = `${Math.max(1, Math.round(share * 100))}%`;
    return node;
  }

  draw();
  follow("/api/stats", signal, {
    stats(data) {
      const sample = JSON.parse(data);
      if (history.length && sample.time <= history.at(-1).time) return;
      history.push(sample);
      while (history[0].time < sample.time - spanMS) history.shift();
      state.textContent = "Live";
      draw();
    },
    error() { state.textContent = "No connection to the server. The console tries again…"; },
  });
}
