// Dialogs that insert, edit and delete a document.
import { append, button, el, field } from "./dom.js";
import { command } from "./api.js";
import { at, isSame, parseDocument, plain } from "./ejson.js";
import { confirmAction, openDialog } from "./dialog.js";
import { differenceNode } from "./difference.js";
import { lineText, shellText } from "./shell-text.js";
import { bytes } from "./units.js";

const versionField = "__stitch_sync_version";
/** The size in bytes above which a document is not edited as text, which would freeze the page. */
const editedBytesMax = 1_000_000;

function editor(text) {
  return el("textarea", { class: "code", rows: 18, spellcheck: "false", autocomplete: "off", wrap: "off", autofocus: true }, text);
}

/** Inserts a document after asking for it. Returns whether it was inserted. */
export function insertDocument(database, collection) {
  return openDialog(`Insert into ${database}.${collection}`, (close, error) => {
    const text = editor("{\n  \n}");
    const insert = button("Insert", async () => {
      error.clear();
      insert.disabled = true;
      try {
        const document = parseDocument(text.value);
        await command(database, { insert: collection, documents: [withID(document)] });
        close(true);
      } catch (trouble) { error.show(trouble); }
      insert.disabled = false;
    }, { class: "primary" });
    return [
      field("Document", text, 'Write JSON or shell text, for example {title: "Milk", at: ISODate("2024-12-31")}.'),
      el("p", { class: "hint" }, "Devices that sync the collection get the document as a remote change with their next pass."),
      el("div", { class: "actions" }, insert),
    ];
  }, { wide: true });
}

function withID(document) {
  if (document.has("_id")) return document;
  const random = [...crypto.getRandomValues(new Uint8Array(8))].map((each) => each.toString(16).padStart(2, "0")).join("");
  const time = Math.floor(Date.now() / 1000).toString(16).padStart(8, "0");
  return new Map([["_id", new Map([["$oid", time + random]])], ...document]);
}

/** Edits a document: text, then the difference, then the write. Returns whether it was changed. */
export async function editDocument(database, collection, id) {
  const size = await documentSize(database, collection, id);
  if (size > editedBytesMax) return await openDialog(`Edit ${lineText(id, 60)}`, () => tooLarge(database, collection, id, size), { wide: true });
  const found = await fetchDocument(database, collection, id);
  return await openDialog(`Edit ${lineText(id, 60)}`, (close, error) => {
    if (!found) return el("p", {}, "The document no longer exists. Another client deleted it.");
    const original = shellText(found);
    const text = editor(original);
    const body = el("div", {});
    showText();
    return body;

    function showText() {
      body.replaceChildren();
      append(body, [
        field("Document", text, "Write JSON or shell text. The next step shows the difference before anything is saved."),
        el("div", { class: "actions" }, button("Show the difference", showDifference, { class: "primary" })),
      ]);
      text.focus();
    }

    function showDifference() {
      error.clear();
      let edited;
      try {
        edited = parseDocument(text.value);
        check(parseDocument(original), edited);
      } catch (trouble) {
        error.show(trouble);
        if (trouble.at !== undefined) { text.focus(); text.setSelectionRange(trouble.at, trouble.at + 1); }
        return;
      }
      const save = button("Save", async () => {
        save.disabled = true;
        error.clear();
        try {
          await replace(database, collection, found, edited);
          close(true);
        } catch (trouble) { error.show(trouble); }
        save.disabled = false;
      }, { class: "primary" });
      body.replaceChildren();
      append(body, [
        differenceNode(original, shellText(edited)),
        el("p", { class: "note" }, syncSentence(found)),
        el("div", { class: "actions" }, save, button("Back to the text", () => { error.clear(); showText(); })),
      ]);
      save.focus();
    }
  }, { wide: true });
}

/** Returns what a dialog says of a document that is too large for an editor. */
function tooLarge(database, collection, id, size) {
  const quote = (text) => JSON.stringify(String(text));
  const statement = `db.getSiblingDB(${quote(database)}).getCollection(${quote(collection)})`
    + `.updateOne({_id: ${lineText(id, 10_000)}}, {$set: {"path.of.the.field": "new value"}})`;
  return [
    el("p", {}, `The document has ${bytes(size)}. This page edits documents of at most ${bytes(editedBytesMax)}.`),
    el("p", {}, "Change a field by its path in the shell, for example:"),
    el("pre", { class: "json", tabindex: 0 }, statement),
    el("p", { class: "hint" }, "stitchsync shell ADDRESS opens the shell at this server."),
  ];
}

/** Returns the size in bytes of the document with an id; 0 if there is none. */
async function documentSize(database, collection, id) {
  const projection = new Map([["size", new Map([["$bsonSize", "$$ROOT"]])]]);
  const found = await fetchDocument(database, collection, id, projection);
  return (found && plain(found.get("size"))) ?? 0;
}

/** Returns the whole document with an id, or `null`. */
export async function fetchDocument(database, collection, id, projection, signal) {
  const reply = await command(database, {
    find: collection, filter: byID(id), projection: projection?.size ? projection : undefined, limit: 1, singleBatch: true,
  }, signal);
  return at(reply, "cursor").get("firstBatch")[0] ?? null;
}

function byID(id) { return new Map([["_id", new Map([["$eq", id]])]]); }

function check(before, after) {
  if (!isSame(before.get("_id"), after.get("_id") ?? null)) {
    throw new Error("A document keeps its _id. To change it, insert a new document and delete this one.");
  }
  if (!isSame(before.get(versionField) ?? null, after.get(versionField) ?? null)) {
    throw new Error(`Sync owns the field ${versionField}. Undo the change to it.`);
  }
  if (isSame(before, after)) throw new Error("The document is unchanged.");
}

function syncSentence(document) {
  return document.has(versionField)
    ? `Devices get this as a remote change with their next pass. The edit leaves ${versionField} as it is, so the engine sees a write that is not from a device; `
      + "a device with a pending change to this document sees a conflict."
    : "Devices that sync the collection get this as a remote change with their next pass. A device with a pending change to this document sees a conflict.";
}

// The filter holds the whole document as it was, so a change of another client is never overwritten.
async function replace(database, collection, before, after) {
  const unchanged = new Map([["$eq", ["$$ROOT", new Map([["$literal", before]])]]]);
  const filter = byID(before.get("_id")).set("$expr", unchanged);
  const reply = await command(database, { update: collection, updates: [{ q: filter, u: after, multi: false, upsert: false }] });
  if (plain(at(reply, "n")) !== 1) {
    throw new Error("Another client changed the document since you opened it. Nothing was saved. Copy your text, close this and edit again.");
  }
}

/** Deletes a document after a confirmation. Returns whether it was deleted. */
export function deleteDocument(database, collection, id) {
  return confirmAction("Delete the document?", [
    `The document ${lineText(id, 120)} of ${database}.${collection} is deleted.`,
    "Devices that sync it delete their copy with their next pass. A device with a pending change to it sees a conflict.",
  ], "Delete", async () => {
    await command(database, { delete: collection, deletes: [{ q: byID(id), limit: 1 }] });
  });
}
