// The page Data: the tree of databases and collections beside a collection's documents or indexes.
import { append, el, empty, errorPlace, field, page, refill } from "./dom.js";
import { command, list } from "./api.js";
import { at, plain } from "./ejson.js";
import { tree } from "./tree.js";
import { bytes, count, shortNode } from "./units.js";
import { showDocuments } from "./documents.js";
import { showIndexes } from "./indexes.js";

export const title = "Data";
const parts = { documents: ["Documents", showDocuments], indexes: ["Indexes", showIndexes] };

export async function show(main, route, context) {
  const [database, collection, part = "documents"] = route.parts;
  const place = el("div", { class: "place" });
  const aside = el("details", { class: "aside", open: !collection || innerWidth > 900 },
    el("summary", {}, "Collections"));
  const content = el("div", { class: "content" });
  append(main, el("div", { class: "columns" }, aside, content));
  aside.append(place);
  const loading = showTree(place, database, collection);
  if (!collection || !Object.hasOwn(parts, part)) {
    append(content, [el("h1", {}, title), empty("No collection is chosen.", "Choose one from the list of collections.")]);
    return await loading;
  }
  const facts = el("p", { class: "quiet" }, " ");
  append(content, [
    el("h1", { class: "name" }, `${database}.${collection}`), facts,
    el("nav", { class: "tabs", "aria-label": "Parts of the collection" }, Object.entries(parts).map(([name, [text]]) =>
      el("a", { href: page("data", database, collection, name), "aria-current": name === part ? "page" : null }, text))),
  ]);
  const body = el("div", {});
  content.append(body);
  showFacts(facts, database, collection);
  await Promise.all([loading, parts[part][1](body, database, collection, route, context)]);
}

async function showFacts(node, database, collection) {
  try {
    const stats = await command(database, { collStats: collection });
    const [documents, size, stored] = ["count", "size", "storageSize"].map((key) => plain(at(stats, key)));
    const indexes = plain(at(stats, "nindexes"));
    node.textContent = [
      count(documents, "document"), Number.isFinite(size) && bytes(size),
      Number.isFinite(stored) && `${bytes(stored)} on disk`, Number.isFinite(indexes) && count(indexes, "index", "indexes"),
    ].filter(Boolean).join(" · ");
  } catch (error) {
    node.textContent = error.message;
  }
}

async function showTree(place, database, collection) {
  const error = errorPlace();
  const filter = el("input", { type: "search", autocomplete: "off", spellcheck: "false" });
  const body = el("div", { class: "tree-scroll" });
  append(place, [field("Find a collection", filter), error.node, body]);
  let databases, drawn = null;
  try {
    const reply = await command("admin", { listDatabases: 1 });
    databases = await Promise.all(reply.get("databases").map(async (each) => ({
      name: String(each.get("name")), size: plain(each.get("sizeOnDisk")),
      collections: each.get("name") === database ? await names(database) : null,
    })));
  } catch (trouble) {
    return error.show(trouble);
  }
  draw();
  let wait = null;
  filter.addEventListener("input", () => {
    clearTimeout(wait);
    wait = setTimeout(async () => {
      try {
        const text = filter.value;
        for (const each of databases) each.collections ??= await names(each.name);
        // A newer text draws by itself; drawing twice would take the focus from the tree.
        if (text === filter.value && text !== drawn) draw();
      } catch (trouble) { error.show(trouble); }
    }, 150);
  });

  function draw() {
    drawn = filter.value;
    const text = filter.value.trim().toLowerCase();
    const fits = (name) => name.toLowerCase().includes(text);
    const shown = databases.filter((each) => !text || each.collections?.some((c) => fits(c.name)));
    if (!databases.length) return refill(body, empty("The server holds no database.", "The first insert or the first sync of a device creates one."));
    if (!shown.length) return refill(body, empty("No collection has a name like this."));
    refill(body, tree("Databases and collections", shown.map((each) => ({
      content: [el("span", { class: "name" }, shortNode(each.name, 60)), el("span", { class: "quiet" }, Number.isFinite(each.size) ? bytes(each.size) : "")],
      open: text !== "" || each.name === database,
      children: () => each.collections ? items(each) : names(each.name).then((found) => { each.collections = found; return items(each); }),
    }))));
    const current = body.querySelector("[aria-current]");
    if (current) body.scrollTop = Math.max(0, current.offsetTop - body.offsetTop - 80);

    function items(each) {
      return each.collections.filter((c) => fits(c.name)).map((c) => ({
        content: [el("span", { class: "name" }, shortNode(c.name, 60)), c.type !== "collection" && el("span", { class: "quiet" }, c.type)],
        current: each.name === database && c.name === collection,
        choose: () => { location.hash = page("data", each.name, c.name); },
      }));
    }
  }
}

async function names(database) {
  const found = await list(database, { listCollections: 1, nameOnly: true });
  return found.map((each) => ({ name: String(each.get("name")), type: String(each.get("type") ?? "collection") }))
    .sort((a, b) => a.name < b.name ? -1 : 1);
}
