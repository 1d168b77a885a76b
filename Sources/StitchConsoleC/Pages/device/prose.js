// Texts of the tool, whose commands stand between backticks.
import { el } from "../js/dom.js";

/** Returns a text with its commands as code. */
export function prose(text) {
  return String(text).split("`").map((part, i) => i % 2 ? el("code", {}, part) : part);
}
