// A tree with the keys of a tree: arrows, Home, End, Enter.
import { append, el } from "./dom.js";

/**
 * Returns a tree. An item has `content` (nodes), and may have `children` (a function that returns
 * items or a promise of them), `open`, `current` and `choose` (what Enter and a click do).
 */
export function tree(label, items) {
  const root = el("ul", { role: "tree", "aria-label": label, class: "tree", onkeydown: onKey });
  append(root, items.map(itemNode));
  const first = root.querySelector("[aria-current]") ?? root.querySelector("[role=treeitem]");
  if (first) first.tabIndex = 0;
  return root;

  function onKey(event) {
    const node = event.target.closest("[role=treeitem]");
    if (!node || event.ctrlKey || event.metaKey || event.altKey || event.target !== node) return;
    const visible = [...root.querySelectorAll("[role=treeitem]")].filter((each) => !each.parentElement.closest("[hidden]"));
    const place = visible.indexOf(node);
    const isOpen = node.getAttribute("aria-expanded");
    let target;
    switch (event.key) {
      case "ArrowDown": target = visible[place + 1]; break;
      case "ArrowUp": target = visible[place - 1]; break;
      case "Home": target = visible[0]; break;
      case "End": target = visible.at(-1); break;
      case "ArrowRight":
        if (isOpen === "false") toggle(node, true);
        else if (isOpen === "true") target = visible[place + 1];
        break;
      case "ArrowLeft":
        if (isOpen === "true") toggle(node, false);
        else target = node.parentElement.closest("[role=treeitem]");
        break;
      case "Enter": case " ": activate(node); break;
      default: return;
    }
    event.preventDefault();
    if (target) focus(target);
  }

  function focus(node) {
    for (const each of root.querySelectorAll("[role=treeitem][tabindex='0']")) each.tabIndex = -1;
    node.tabIndex = 0;
    node.focus();
    node.querySelector(".row")?.scrollIntoView({ block: "nearest" });
  }

  function activate(node) {
    if (node.item.choose) node.item.choose();
    if (node.item.children && !node.item.choose) toggle(node, node.getAttribute("aria-expanded") !== "true");
  }

  async function toggle(node, open) {
    node.setAttribute("aria-expanded", String(open));
    const group = node.querySelector(":scope > ul");
    group.hidden = !open;
    if (!open || node.isLoaded) return;
    node.isLoaded = true;
    try {
      const children = node.item.children();
      const items = children instanceof Promise ? await children : children;
      append(group, items.length ? items.map(itemNode) : el("li", { role: "none", class: "quiet" }, "Empty"));
    } catch (error) {
      node.isLoaded = false;
      group.replaceChildren(el("li", { role: "none", class: "error" }, error.message));
    }
  }

  function itemNode(item) {
    const row = el("div", { class: "row" }, el("span", { class: "arrow", "aria-hidden": "true" }), item.content);
    const node = el("li", {
      role: "treeitem", tabindex: -1, "aria-current": item.current ? "true" : null,
      "aria-expanded": item.children ? "false" : null,
    }, row, item.children && el("ul", { role: "group", hidden: true }));
    node.item = item;
    row.addEventListener("click", (event) => {
      if (getSelection().toString() && getSelection().containsNode(row, true)) return;
      event.stopPropagation();
      focus(node);
      activate(node);
    });
    if (item.children && item.open) toggle(node, true);
    return node;
  }
}
