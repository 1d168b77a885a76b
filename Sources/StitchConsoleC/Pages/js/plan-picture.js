// The stages of a query plan as a tree of boxes, the data flowing from the bottom to the top.
import { svg } from "./dom.js";
import { plain } from "./ejson.js";
import { number, short } from "./units.js";

const width = 172, height = 58, gapX = 16, gapY = 34, stagesMax = 40;

/** Returns the picture of a plan. */
export function planPicture(root) {
  const boxes = [], lines = [];
  let column = 0;
  place(root, 0);
  const right = Math.max(...boxes.map((each) => each.x)) + width;
  const bottom = Math.max(...boxes.map((each) => each.y)) + height;
  const text = boxes.map((each) => each.name).join(", which reads from ");
  return svg("svg", { class: "picture", role: "img", "aria-label": `Stages of the plan: ${text}`,
    viewBox: `-2 -2 ${right + 4} ${bottom + 4}`, width: right + 4, height: bottom + 4 }, lines, boxes.map(boxNode));

  /** Places a stage above its inputs and returns the middle of its box. */
  function place(stage, depth) {
    const inputs = [stage.get("inputStage"), ...(stage.get("inputStages") ?? [])].filter((each) => each instanceof Map);
    const box = { stage, name: String(stage.get("stage") ?? "unknown"), x: 0, y: depth * (height + gapY) };
    boxes.push(box);
    const middles = boxes.length < stagesMax ? inputs.map((each) => place(each, depth + 1)) : [];
    box.x = middles.length ? (middles[0] + middles.at(-1)) / 2 - width / 2 : column++ * (width + gapX);
    const middle = box.x + width / 2;
    for (const each of middles) {
      const from = box.y + height + gapY, to = box.y + height;
      lines.push(svg("path", { class: "flow", d: `M ${each} ${from} L ${middle} ${to + 7}` }),
        svg("path", { class: "head", d: `M ${middle - 5} ${to + 8} L ${middle + 5} ${to + 8} L ${middle} ${to + 1} Z` }));
    }
    return middle;
  }
}

function boxNode({ stage, name, x, y }) {
  const returned = plain(stage.get("nReturned"));
  const index = stage.get("indexName");
  const read = plain(stage.get("docsExamined")) ?? plain(stage.get("keysExamined"));
  const facts = [Number.isFinite(read) && `${number(read)} read`, Number.isFinite(returned) && `${number(returned)} returned`].filter(Boolean).join(", ");
  return svg("g", { class: name === "COLLSCAN" || name === "SORT" ? "slow" : "" },
    svg("rect", { x, y, width, height }),
    svg("text", { class: "title", x: x + width / 2, y: y + 18 }, short(name, 20)),
    svg("text", { x: x + width / 2, y: y + 34 }, short(index === undefined ? "" : `index ${index}`, 26)),
    svg("text", { x: x + width / 2, y: y + 50 }, short(facts, 28)));
}
