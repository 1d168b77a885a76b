// The input for an _id.
import { parse } from "./ejson.js";

/** Returns the _id in an input. An invalid one is marked and shown as an error, and `undefined` is returned. */
export function readID(input, error) {
  error.clear();
  input.removeAttribute("aria-invalid");
  try {
    return parse(input.value);
  } catch (trouble) {
    input.setAttribute("aria-invalid", "true");
    error.show(`The _id: ${trouble.message}`);
    return undefined;
  }
}
