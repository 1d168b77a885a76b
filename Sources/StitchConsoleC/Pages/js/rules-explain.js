// The form that explains the rules for a user and a document.
import { el, errorPlace, field, refill, table } from "./dom.js";
import { post } from "./api.js";
import { readID } from "./id-field.js";
import { jsonBlock } from "./document-view.js";
import { shortNode } from "./units.js";

/** Returns the form and its answer. A query with a user and an id is explained at once. */
export function explainForm(query, signal) {
  const input = (name, placeholder) => el("input", {
    value: query.get(name) ?? "", placeholder, required: true, autocomplete: "off", spellcheck: "false",
  });
  const user = input("user", "ann"), database = input("database", "app");
  const namespace = input("namespace", "app.todos"), id = input("id", "ObjectId('…') or \"a text\" or 12");
  const error = errorPlace(), answer = el("div", { "aria-live": "polite" });
  const form = el("form", { class: "query explain", "aria-labelledby": "explain-title", onsubmit(event) { event.preventDefault(); run(); } },
    field("User", user), field("User's database", database), field("Collection", namespace), field("_id of the document", id),
    el("div", { class: "actions" }, el("button", { type: "submit", class: "primary" }, "Explain")));
  if (query.get("user") && query.get("id")) run();
  return [form, error.node, answer];

  async function run() {
    const parsed = readID(id, error);
    if (parsed === undefined) return;
    try {
      const reply = await post("/api/rules/explain", { user: user.value, database: database.value, namespace: namespace.value, id: parsed }, signal);
      refill(answer, explanation(reply, user.value));
    } catch (trouble) {
      if (!signal.aborted) error.show(trouble);
    }
  }
}

function explanation(reply, user) {
  const sees = reply.get("sees");
  const verdict = (holds, yes, no) => el("li", { class: holds ? "holds" : "fails" }, holds ? yes : no);
  const fields = [...(reply.get("fields") ?? [])];
  const yes = (value) => value ? "yes" : "no";
  return [
    el("ul", { class: "verdicts" },
      verdict(sees !== null, `${user} sees the document`, `${user} does not see the document`),
      verdict(reply.get("mayWrite"), "may write it", "may not write it"),
      verdict(reply.get("mayDelete"), "may delete it", "may not delete it")),
    el("h3", {}, "Steps"),
    el("ol", { class: "steps" }, reply.get("steps").map((step) =>
      el("li", { class: step.get("holds") ? "holds" : "fails" },
        el("strong", {}, shortNode(step.get("question"), 300)), " ", shortNode(step.get("answer"), 600)))),
    fields.length > 0 && [el("h3", {}, "Fields"), table("Rights by field", [
      { title: "Field", cell: (each) => el("code", {}, shortNode(each[0])) },
      { title: "May read", cell: (each) => yes(each[1].get("read")) },
      { title: "May write", cell: (each) => yes(each[1].get("write")) },
    ], fields, { isSmall: true })],
    sees !== null && [el("h3", {}, "The document as the user sees it"), jsonBlock(sees)],
  ];
}
