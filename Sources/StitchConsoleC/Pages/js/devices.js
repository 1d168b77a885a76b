// The page Devices: the connected devices.
import { el, empty, errorPlace, every, heading, refill, table } from "./dom.js";
import { get } from "./api.js";
import { ago, count, number, shortNode } from "./units.js";

export const title = "Devices";

export async function show(main, route, { signal }) {
  const state = el("p", { class: "quiet", role: "status" });
  const error = errorPlace(), body = el("div", {});
  main.append(heading(title, state), error.node, body);
  await every(3000, signal, async () => {
    try {
      const { devices } = await get("/api/devices", signal);
      error.clear();
      const text = count(devices.length, "device");
      if (state.textContent !== text) state.textContent = text;
      refill(body, devices.length ? deviceTable(devices)
        : empty("No device is connected.", "Devices connect by ServerRemote(\"stitchsync://host:port\") in the app, and stay listed while they are connected."));
    } catch (trouble) {
      if (!signal.aborted) error.show(trouble);
    }
  });
}

function deviceTable(devices) {
  return table("Connected devices", [
    { title: "User", cell: (each) => each.user ? [shortNode(each.user, 60), el("span", { class: "quiet" }, ` in ${each.database}`)] : el("span", { class: "quiet" }, "not signed in") },
    { title: "App", cell: (each) => shortNode(each.app ?? "unknown", 60) },
    { title: "System", cell: (each) => [shortNode(each.platform ?? "unknown", 60), el("div", { class: "quiet" }, shortNode(each.driver ?? "", 60))] },
    { title: "Collections", cell: (each) => each.namespaces?.length
      ? [each.namespaces.slice(0, 4).map((name) => el("div", {}, shortNode(name, 60))), each.namespaces.length > 4 && el("div", { class: "quiet", title: each.namespaces.slice(0, 100).join("\n") }, `and ${each.namespaces.length - 4} more`)]
      : el("span", { class: "quiet" }, "none") },
    { title: "Follows", kind: "long", cell: (each) => each.streams?.length
      ? each.streams.slice(0, 4).map((one) => el("div", {}, shortNode(one.namespace, 60), el("div", { class: "quiet" }, one.filter ? el("code", {}, shortNode(JSON.stringify(one.filter), 120)) : "all documents")))
      : el("span", { class: "quiet" }, "nothing") },
    { title: "State", kind: "tight", cell: (each) => each.waiting ? "waits for changes" : "active" },
    { title: "Commands", kind: "number", cell: (each) => number(each.commands) },
    { title: "Last seen", cell: (each) => ago(each.lastSeen) },
    { title: "Connected", cell: (each) => ago(each.since) },
    { title: "Address", kind: "tight", cell: (each) => [el("code", {}, shortNode(each.address ?? "unknown", 60)), el("div", { class: "quiet" }, `connection ${each.connection}`)] },
  ], devices);
}
