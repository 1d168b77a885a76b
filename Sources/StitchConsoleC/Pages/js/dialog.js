// Dialogs. Escape and a click on Close close them; the focus returns to where it was.
import { append, button, el, errorPlace } from "./dom.js";

/** Opens a dialog. `build(close, error)` returns its content; returns when the dialog is closed. */
export function openDialog(title, build, { wide = false } = {}) {
  const before = document.activeElement;
  const heading = el("h2", { id: "dialog-title" }, title);
  const error = errorPlace();
  const dialog = el("dialog", { class: wide ? "wide" : null, "aria-labelledby": "dialog-title" });
  return new Promise((resolve) => {
    let result;
    const close = (value) => { result = value; dialog.close(); };
    append(dialog, [
      el("div", { class: "dialog-head" }, heading, button("Close", () => close(), { class: "plain" })),
      el("div", { class: "dialog-body" }, build(close, error), error.node),
    ]);
    dialog.addEventListener("close", () => {
      dialog.remove();
      if (before?.isConnected) before.focus();
      resolve(result);
    });
    document.body.append(dialog);
    dialog.showModal();
    (dialog.querySelector("[autofocus]") ?? dialog.querySelector(".dialog-body textarea, .dialog-body input"))?.focus();
  });
}

/** Asks before `action` runs; keeps the dialog open with the error if it fails. Returns whether it ran. */
export async function confirmAction(title, sentences, verb, action, { typed } = {}) {
  return await openDialog(title, (close, error) => {
    const run = button(verb, async () => {
      run.disabled = true;
      error.clear();
      try {
        await action();
        close(true);
      } catch (trouble) {
        error.show(trouble);
        run.disabled = false;
      }
    }, { class: "danger" });
    const cancel = button("Cancel", () => close(false), { autofocus: true });
    if (typed) run.disabled = true;
    const input = typed && el("input", {
      id: "dialog-typed", autocomplete: "off", oninput: () => { run.disabled = input.value !== typed; },
    });
    return [
      sentences.map((each) => el("p", {}, each)),
      typed && el("div", { class: "field" }, el("label", { for: "dialog-typed" }, `Type ${typed} to confirm`), input),
      el("div", { class: "actions" }, run, cancel),
    ];
  }) === true;
}
