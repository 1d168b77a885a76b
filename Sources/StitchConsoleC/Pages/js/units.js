// Numbers, sizes and times as text.
import { el } from "./dom.js";

const minute = 60, hour = 3600, day = 86400;

/** Returns "3 s ago", or "in 3 s" for a time to come. */
export function agoText(ms, now = Date.now()) {
  const seconds = Math.round((now - ms) / 1000);
  const size = Math.abs(seconds);
  let text;
  if (size < 2) return "now";
  if (size < minute) text = `${size} s`;
  else if (size < hour) text = `${Math.floor(size / minute)} min`;
  else if (size < 2 * day) text = `${Math.floor(size / hour)} h`;
  else text = `${Math.floor(size / day)} days`;
  return seconds > 0 ? `${text} ago` : `in ${text}`;
}

/** Returns a `<time>` such as "3 s ago", with the full time as its title. */
export function ago(value) {
  const date = new Date(Number(value));
  if (value === null || value === undefined || Number.isNaN(date.getTime())) return "unknown";
  return el("time", { datetime: date.toISOString(), title: date.toISOString(), data: { ms: date.getTime() } },
    agoText(date.getTime()));
}

/** Brings the texts of all times of the page up to date. */
export function refreshTimes() {
  for (const node of document.querySelectorAll("time[data-ms]")) {
    const text = agoText(Number(node.dataset.ms));
    if (node.textContent !== text) node.textContent = text;
  }
}

export function bytes(value) {
  if (!Number.isFinite(value)) return "unknown";
  const units = ["B", "KB", "MB", "GB", "TB"];
  let size = value, unit = 0;
  while (size >= 1000 && unit < units.length - 1) { size /= 1000; unit += 1; }
  return `${unit === 0 ? size : size.toFixed(size < 10 ? 1 : 0)} ${units[unit]}`;
}

export function number(value) {
  if (typeof value !== "number" || !Number.isFinite(value)) return "unknown";
  const digits = Math.abs(value) < 10 && !Number.isInteger(value) ? 1 : 0;
  return value.toLocaleString("en-US", { maximumFractionDigits: digits });
}

export function duration(microseconds) {
  if (!Number.isFinite(microseconds)) return "unknown";
  if (microseconds < 1000) return `${Math.round(microseconds)} µs`;
  if (microseconds < 1e6) return `${(microseconds / 1000).toFixed(microseconds < 1e4 ? 1 : 0)} ms`;
  if (microseconds < 6e7) return `${(microseconds / 1e6).toFixed(1)} s`;
  return `${Math.floor(microseconds / 6e7)} min ${Math.floor((microseconds / 1e6) % 60)} s`;
}

/** Returns the text, cut short after `max` characters. */
export function short(text, max = 120) {
  const all = String(text);
  return all.length > max ? all.slice(0, max) + "…" : all;
}

/** Returns a span with a short text and the whole text (up to 2,000 characters) as title. */
export function shortNode(text, max = 120) {
  const all = String(text);
  return all.length > max ? el("span", { title: all.slice(0, 2000) }, short(all, max)) : all;
}

export function count(value, noun, plural = noun + "s") {
  return `${number(value)} ${value === 1 ? noun : plural}`;
}
