// The form and the frame of a page that tells the story of one document.
import { el, empty, errorPlace, field, heading, page, refill } from "./dom.js";
import { getDocuments } from "./api.js";
import { stringify } from "./ejson.js";
import { readID } from "./id-field.js";
import { count } from "./units.js";

/**
 * Shows the form, and the story of the document that it names.
 * `source` has the title, the hint for an empty form, the path of the story, the steps that are counted, and the
 * content that is made of both.
 */
export async function showStory(main, route, signal, source) {
  const input = (name, placeholder) => el("input", {
    value: route.query.get(name) ?? "", placeholder, required: true, autocomplete: "off", spellcheck: "false",
  });
  const namespace = input("namespace", "app.todos"), id = input("id", "ObjectId('…') or \"a text\" or 12");
  const state = el("p", { class: "quiet", role: "status" });
  const error = errorPlace(), body = el("div", { "aria-busy": "false" });
  main.append(heading(source.title, state),
    el("form", { class: "query", "aria-label": "Which document", onsubmit(event) {
      event.preventDefault();
      history.replaceState(null, "", page("write", { namespace: namespace.value, id: id.value }));
      run();
    } }, field("Collection", namespace), field("_id of the document", id),
    el("div", { class: "actions" }, el("button", { type: "submit", class: "primary" }, "Show the story"))),
    error.node, body);
  if (namespace.value && id.value) return await run();
  refill(body, empty("No document is chosen.", source.hint));

  async function run() {
    const parsed = readID(id, error);
    if (parsed === undefined) return;
    body.setAttribute("aria-busy", "true");
    try {
      const query = new URLSearchParams({ namespace: namespace.value, id: stringify(parsed) });
      const story = await getDocuments(`${source.path}?${query}`, signal);
      const steps = source.steps(story);
      state.textContent = count(steps.length, "step");
      refill(body, source.content(story, steps));
    } catch (trouble) {
      if (!signal.aborted) error.show(trouble);
    } finally {
      body.setAttribute("aria-busy", "false");
    }
  }
}
