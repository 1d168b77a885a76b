// A collection's documents: query bar, pages, plan, edit.
import { button, el, empty, errorPlace, field, page, refill } from "./dom.js";
import { command } from "./api.js";
import { at, parseDocument, plain, stringify } from "./ejson.js";
import { cutNote, documentTree, jsonBlock } from "./document-view.js";
import { deleteDocument, editDocument, fetchDocument, insertDocument } from "./document-edit.js";
import { planNode } from "./plan.js";
import { storyOf } from "./write.js";
import { lineText } from "./shell-text.js";
import { number } from "./units.js";

const limitMax = 500, countMaxMS = 3000;
let shownAs = "tree";

export async function showDocuments(body, database, collection, route, { signal, session }) {
  const isReadOnly = session?.server?.kind === "device";
  const query = route.query;
  const text = (name, placeholder) => el("input", {
    value: query.get(name) ?? "", placeholder, spellcheck: "false", autocomplete: "off", class: "code",
  });
  const inputs = { filter: text("filter", '{status: "open"}'), sort: text("sort", "{_id: -1}"), projection: text("projection", "{title: 1}") };
  const limit = el("input", { type: "number", min: 1, max: limitMax, value: query.get("limit") ?? 20, required: true });
  const errors = Object.fromEntries(Object.keys(inputs).map((name) => [name, errorPlace()]));
  const trouble = errorPlace(), results = el("div", { "aria-busy": "false" });
  let skip = Math.max(0, Number.parseInt(query.get("skip") ?? "0", 10) || 0);

  const place = (name, label) => el("div", { class: name }, field(label, inputs[name]), errors[name].node);
  const form = el("form", {
    class: "query", "aria-label": "Query", onsubmit(event) { event.preventDefault(); skip = 0; run(); },
  }, place("filter", "Filter"), place("sort", "Sort"), place("projection", "Projection"),
  el("div", { class: "limit" }, field("Limit", limit)),
  el("div", { class: "actions" }, el("button", { type: "submit", class: "primary" }, "Find"),
    button("Explain", explain), !isReadOnly && button("Insert…", async () => { if (await insertDocument(database, collection)) run(); })));
  body.append(form, trouble.node, results);
  await run();

  /** Returns the parsed query, or `null` with the errors shown at their fields. */
  function read() {
    const parsed = {};
    let isValid = true;
    for (const [name, input] of Object.entries(inputs)) {
      errors[name].clear();
      input.removeAttribute("aria-invalid");
      try {
        parsed[name] = parseDocument(input.value);
      } catch (error) {
        errors[name].show(error);
        input.setAttribute("aria-invalid", "true");
        if (isValid) input.focus();
        isValid = false;
      }
    }
    return isValid ? parsed : null;
  }

  function findCommand(parsed) {
    const size = Math.min(limitMax, Math.max(1, Number.parseInt(limit.value, 10) || 20));
    limit.value = size;
    const body = new Map([["find", collection], ["filter", parsed.filter]]);
    if (parsed.sort.size) body.set("sort", parsed.sort);
    if (parsed.projection.size) body.set("projection", parsed.projection);
    if (skip) body.set("skip", skip);
    return body.set("limit", size).set("batchSize", size);
  }

  async function run() {
    const parsed = read();
    if (!parsed) return;
    trouble.clear();
    results.setAttribute("aria-busy", "true");
    const body = findCommand(parsed);
    remember();
    try {
      const [reply, counted] = await Promise.all([
        command(database, body, signal, true),
        command(database, { count: collection, query: parsed.filter, maxTimeMS: countMaxMS }, signal).catch(() => null),
      ]);
      const cursor = reply.get("cursor");
      const documents = cursor.get("firstBatch");
      if (String(plain(cursor.get("id"))) !== "0") command(database, { killCursors: collection, cursors: [cursor.get("id")] }).catch(() => {});
      const sizes = (reply.get("cut") ?? []).map(plain);
      const shown = documents.map((document, i) => ({ document, cutFrom: sizes[i] ?? 0 }));
      draw(shown, counted ? plain(at(counted, "n")) : null, body.get("limit"), parsed);
    } catch (error) {
      if (error.name !== "AbortError") trouble.show(error);
    } finally {
      results.setAttribute("aria-busy", "false");
    }
  }

  /** Puts the query into the address, so that a reload or a bookmark shows it again. */
  function remember() {
    const kept = {};
    for (const [name, input] of Object.entries(inputs)) if (input.value.trim()) kept[name] = input.value;
    if (limit.value !== "20") kept.limit = limit.value;
    if (skip) kept.skip = skip;
    history.replaceState(null, "", page("data", database, collection, "documents", kept));
  }

  function draw(documents, total, size, parsed) {
    const step = (by) => () => { skip = Math.max(0, skip + by); run().then(() => form.scrollIntoView({ block: "nearest" })); };
    const range = documents.length ? `${number(skip + 1)}–${number(skip + documents.length)}` : "0";
    const bar = el("div", { class: "pager" },
      el("span", { role: "status" }, total === null ? `Documents ${range}` : `Documents ${range} of ${number(total)}`),
      el("span", { class: "spring" }),
      button("Tree", () => { shownAs = "tree"; draw(documents, total, size, parsed); }, { "aria-pressed": String(shownAs === "tree"), data: { key: "tree" } }),
      button("JSON", () => { shownAs = "json"; draw(documents, total, size, parsed); }, { "aria-pressed": String(shownAs === "json"), data: { key: "json" } }),
      button("Previous", step(-size), { disabled: skip === 0, data: { key: "previous" } }),
      button("Next", step(size), { disabled: total === null ? documents.length < size : skip + documents.length >= total, data: { key: "next" } }));
    const isEverything = parsed.filter.size === 0 && skip === 0;
    refill(results, bar, documents.length ? documents.map((shown) => card(shown, parsed.projection)) : isEverything
      ? empty("The collection holds no document.", isReadOnly ? null : "Insert one here, or let a device sync one.")
      : empty("No document matches.", "Change the filter, or clear it to see all documents."));
  }

  /** Returns a document's card. `shown.cutFrom` is the size of a document that the server cut, or 0. */
  function card(shown, projection) {
    const { document } = shown;
    const id = document.get("_id");
    const name = id === undefined ? "document" : lineText(id, 80);
    const view = shownAs === "tree" ? documentTree(document, `Document ${name}`) : jsonBlock(document);
    const node = el("article", { class: "document" },
      el("div", { class: "document-head" }, el("code", { title: stringify(id ?? null).slice(0, 500) }, name),
        id !== undefined && [
          el("a", { class: "button plain", href: storyOf(`${database}.${collection}`, id), "aria-label": `Story of ${name}` }, "Story"),
          !isReadOnly && button("Edit…", async () => { if (await editDocument(database, collection, id)) run(); }, { "aria-label": `Edit ${name}`, class: "plain" }),
          !isReadOnly && button("Delete…", async () => { if (await deleteDocument(database, collection, id)) run(); }, { "aria-label": `Delete ${name}`, class: "plain" }),
        ]),
      shown.cutFrom > 0 && noteOfCut(), view);
    return node;

    function noteOfCut() {
      const error = errorPlace();
      const all = id !== undefined && button("Show all", async () => {
        error.clear();
        all.disabled = true;
        try {
          const whole = await fetchDocument(database, collection, id, projection, signal);
          if (!whole) throw new Error("The document no longer exists. Another client deleted it.");
          Object.assign(shown, { document: whole, cutFrom: 0 });
          node.replaceWith(card(shown, projection));
        } catch (trouble) {
          if (trouble.name !== "AbortError") error.show(trouble);
        }
        all.disabled = false;
      }, { class: "plain", "aria-label": `Show all of ${name}` });
      return cutNote(shown.cutFrom, "document", all || "Use a projection to see more.", error.node);
    }
  }

  async function explain() {
    const parsed = read();
    if (!parsed) return;
    trouble.clear();
    try {
      const start = performance.now();
      const reply = await command(database, { explain: findCommand(parsed), verbosity: "executionStats" }, signal);
      refill(results, planNode(reply, performance.now() - start), el("p", {}, button("Back to the documents", run)));
      results.querySelector("h2")?.focus();
    } catch (error) {
      if (error.name !== "AbortError") trouble.show(error);
    }
  }
}

