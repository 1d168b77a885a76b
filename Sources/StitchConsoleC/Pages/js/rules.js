// The page Rules: the files with their errors, a check of changed texts, and the explanation for a user.
import { append, button, el, empty, errorPlace, heading, refill } from "./dom.js";
import { get, post } from "./api.js";
import { plain } from "./ejson.js";
import { trialNode } from "./rules-trial.js";
import { explainForm } from "./rules-explain.js";
import { ago, count } from "./units.js";

export const title = "Rules";

export async function show(main, route, { signal }) {
  const state = el("p", { class: "quiet" });
  const error = errorPlace();
  const body = el("div", {});
  main.append(heading(title, state), error.node, body);
  let rules;
  try {
    rules = await get("/api/rules", signal);
  } catch (trouble) {
    if (trouble.status !== 404) return error.show(trouble);
    return append(body, empty("This server has no rules.", "Every signed-in user may read and write according to the roles. Start the server with --rules FOLDER to set who may read and write what."));
  }
  append(state, [`Folder ${rules.folder}, loaded `, ago(rules.loaded)]);
  append(body, [
    el("section", {}, el("h2", { id: "explain-title" }, "What may a user do with a document?"), explainForm(route.query, signal)),
    el("section", {}, el("h2", {}, "Files"),
      rules.files.length ? files(rules.files, signal)
        : empty("The folder holds no file.", "Put a file such as app/todos/rules.json into it. The server loads it by itself.")),
  ]);
}

function files(all, signal) {
  const texts = new Map(all.map((each) => [each.path, each.text]));
  const views = all.map((file) => fileView(file));
  const summary = el("p", { role: "status" });
  const error = errorPlace(), trial = el("div", { "aria-live": "polite", "aria-busy": "false" });
  showCount(all.reduce((sum, each) => sum + each.errors.length, 0), "The loaded rules have");
  return [
    summary, views.map((each) => each.node), error.node,
    el("div", { class: "actions" },
      button("Check the texts", check, { class: "primary" }),
      button("Try on real documents", tryOut),
      button("Back to the loaded texts", () => views.forEach((each) => each.reset()))),
    trial,
    el("p", { class: "hint" }, "A check and a trial change nothing. To change the rules, save the files in the folder; the server loads them by itself."),
  ];

  function showCount(errors, subject) {
    summary.textContent = errors === 0 ? `${subject} no errors.` : `${subject} ${count(errors, "error")}.`;
    summary.className = errors === 0 ? "good" : "error";
  }

  /** Shows what the changed texts would change; with errors in them, the errors. */
  async function tryOut() {
    await check();
    trial.replaceChildren();
    if (views.some((each) => each.hasErrors())) return error.show("Mend the errors first; rules with errors cannot be tried.");
    trial.setAttribute("aria-busy", "true");
    try {
      refill(trial, trialNode(await post("/api/rules/diff", { files: [...texts].map(([path, text]) => ({ path, text })) }, signal)));
      trial.querySelector("h3")?.focus();
    } catch (trouble) {
      if (!signal.aborted) error.show(trouble);
    } finally {
      trial.setAttribute("aria-busy", "false");
    }
  }

  async function check() {
    error.clear();
    try {
      const answer = await post("/api/rules/check", { files: [...texts].map(([path, text]) => ({ path, text })) }, signal);
      const found = answer.get("files");
      for (const view of views) {
        const file = found.find((each) => each.get("path") === view.path);
        view.showErrors((file?.get("errors") ?? []).map((each) => ({
          line: plain(each.get("line")), column: plain(each.get("column")), path: each.get("path"), level: each.get("level"), message: each.get("message"),
        })));
      }
      showCount(found.reduce((sum, each) => sum + each.get("errors").length, 0), "The texts have");
    } catch (trouble) {
      if (!signal.aborted) error.show(trouble);
    }
  }

  function fileView(file) {
    const mark = el("span", { class: "quiet" });
    const places = el("ul", { class: "places" });
    const area = el("textarea", {
      class: "code", rows: Math.min(24, file.text.split("\n").length + 1), spellcheck: "false", wrap: "off",
      "aria-label": `Text of ${file.path}`, oninput: () => { texts.set(file.path, area.value); showMark(); },
    });
    area.value = file.text;
    const node = el("details", { class: "file", open: file.errors.length > 0 },
      el("summary", {}, el("code", {}, file.path), " ", mark), area, places);
    let shownErrors = [];
    showErrors(file.errors);
    return { path: file.path, node, showErrors, reset, hasErrors: () => shownErrors.some((each) => each.level !== "warning") };

    function showMark() {
      const parts = [];
      if (shownErrors.length) parts.push(count(shownErrors.length, "error"));
      if (area.value !== file.text) parts.push("changed");
      mark.textContent = parts.join(", ");
      mark.className = shownErrors.length ? "error" : "quiet";
    }

    function showErrors(errors) {
      shownErrors = errors;
      if (errors.length) { node.open = true; area.setAttribute("aria-invalid", "true"); } else area.removeAttribute("aria-invalid");
      refill(places, errors.map((each) => el("li", {},
        button(`Line ${each.line ?? 1}, column ${each.column ?? 1}`, () => select(each), { class: "plain" }),
        el("code", {}, ` ${each.path ?? ""} `), el("span", { class: "error" }, each.message),
        el("pre", { class: "pointer" }, pointer(each)))));
      showMark();
    }

    /** Returns the line of an error with a mark under its column. */
    function pointer({ line = 1, column = 1 }) {
      const text = (area.value.split("\n")[line - 1] ?? "").replace(/\t/g, " ");
      const start = Math.max(0, column - 60);
      return `${text.slice(start, start + 100)}\n${" ".repeat(Math.max(0, column - 1 - start))}^`;
    }

    function select({ line = 1, column = 1 }) {
      const lines = area.value.split("\n");
      const place = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0) + column - 1;
      area.focus();
      area.setSelectionRange(place, place + 1);
      area.scrollTop = Math.max(0, (line - 4) * 18);
    }

    function reset() {
      area.value = file.text;
      texts.set(file.path, file.text);
      showErrors(file.errors);
    }
  }
}
