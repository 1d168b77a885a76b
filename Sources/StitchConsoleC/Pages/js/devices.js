// The page Devices: the connected devices, and those that were seen last.
import { el, empty, errorPlace, every, heading, refill, table } from "./dom.js";
import { get } from "./api.js";
import { ago, count, shortNode } from "./units.js";

export const title = "Devices";

export async function show(main, route, { signal }) {
  const state = el("p", { class: "quiet", role: "status" });
  const error = errorPlace(), body = el("div", {});
  main.append(heading(title, state), error.node, body);
  await every(3000, signal, async () => {
    try {
      const { devices } = await get("/api/devices", signal);
      error.clear();
      const gone = devices.filter((each) => each.connected === false).length;
      const text = count(devices.length, "device") + (gone ? `, ${gone} of them not connected` : "");
      if (state.textContent !== text) state.textContent = text;
      refill(body, devices.length ? deviceTable(devices)
        : empty("No device has connected yet.", "Devices connect by ServerRemote(\"stitchsync://host:port\") in the app, and stay listed after they leave."));
    } catch (trouble) {
      if (!signal.aborted) error.show(trouble);
    }
  });
}

/** Returns the app and its version as one text. */
function appText(device) { return [device.app ?? "unknown app", device.appVersion].filter(Boolean).join(" "); }

function deviceTable(devices) {
  return table("Devices", [
    { title: "User", cell: (each) => [
      each.user ? [shortNode(each.user, 60), el("span", { class: "quiet" }, ` in ${each.database}`)] : el("span", { class: "quiet" }, "not signed in"),
      (each.addresses ?? []).slice(0, 2).map((address) => el("div", { class: "quiet" }, el("code", {}, shortNode(address ?? "unknown", 60))))] },
    { title: "App", cell: (each) => [shortNode(appText(each), 60), each.device && el("div", { class: "quiet" }, el("code", { title: "The name of the device" }, shortNode(each.device, 20)))] },
    { title: "System", cell: (each) => [shortNode(each.platform ?? "unknown", 60), el("div", { class: "quiet" }, shortNode(each.driver ?? "", 60))] },
    { title: "State", kind: "tight", cell: (each) => each.connected === false ? el("span", { class: "quiet" }, "not connected")
      : [each.waiting ? "waits for changes" : "active", el("div", { class: "quiet" }, `${count(each.commands ?? 0, "command")} on`), el("div", { class: "quiet" }, connections(each.connections ?? []))] },
    { title: "Waits there", kind: "tight", cell: (each) => backlog(each) },
    { title: "Last seen", kind: "tight", cell: (each) => [ago(each.lastSeen), each.firstSeen && el("div", { class: "quiet" }, "first ", ago(each.firstSeen))] },
    { title: "Collections", cell: (each) => each.namespaces?.length
      ? [each.namespaces.slice(0, 4).map((name) => el("div", {}, shortNode(name, 60))), each.namespaces.length > 4 && el("div", { class: "quiet", title: each.namespaces.slice(0, 100).join("\n") }, `and ${each.namespaces.length - 4} more`)]
      : el("span", { class: "quiet" }, "none") },
    { title: "Follows", kind: "long", cell: (each) => each.streams?.length
      ? each.streams.slice(0, 4).map((one) => el("div", {}, shortNode(one.namespace, 60), el("div", { class: "quiet" }, one.filter ? el("code", {}, shortNode(JSON.stringify(one.filter), 120)) : "all documents")))
      : el("span", { class: "quiet" }, "nothing") },
  ], devices);
}

/** Returns what waits on a device; paused and rejected documents need somebody. */
function backlog({ backlog }) {
  if (!backlog) return el("span", { class: "quiet" }, "unknown");
  const parts = [["pending", "pending"], ["paused", "paused"], ["rejected", "rejected"]].filter(([name]) => backlog[name] > 0);
  if (!parts.length) return "nothing";
  return parts.map(([name, text]) => el("div", { class: name === "pending" ? null : "error" }, `${backlog[name]} ${text}`));
}

function connections(ids) {
  return `${ids.length === 1 ? "connection" : "connections"} ${ids.slice(0, 4).join(", ")}${ids.length > 4 ? " …" : ""}`;
}
