// Line graphs of the last two minutes.
import { svg } from "./dom.js";

const width = 240, height = 48;
export const spanMS = 120_000;

/** A graph of samples `{time, value}` that is drawn again with `draw`. */
export class LineGraph {
  constructor(label) {
    this.label = label;
    this.area = svg("polygon", { class: "area", points: "" });
    this.line = svg("polyline", { class: "line", points: "" });
    this.node = svg("svg", {
      viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", class: "graph", role: "img", "aria-label": label,
    }, this.area, this.line);
  }

  draw(samples, now) {
    const known = samples.filter((each) => Number.isFinite(each.value));
    const top = Math.max(...known.map((each) => each.value), 0) || 1;
    const points = known.map(({ time, value }) => [
      (width * (1 - (now - time) / spanMS)).toFixed(1), (height - 2 - (height - 6) * (value / top)).toFixed(1),
    ]);
    const line = points.map((each) => each.join(",")).join(" ");
    this.line.setAttribute("points", line);
    this.area.setAttribute("points", points.length
      ? `${points[0][0]},${height} ${line} ${points.at(-1)[0]},${height}` : "");
  }
}
