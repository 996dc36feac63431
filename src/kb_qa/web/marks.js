// What is drawn over a picture of a page: boxes in points, laid out as shares of the picture, so that they fit any zoom.

import { node } from "./nodes.js";

// `area` is what the picture shows, in points: [x0, y0, x1, y1]. Undefined where the box lies outside.
export function boxNode(kind, box, area) {
  const [x0, y0, x1, y1] = intersection(box, area);
  if (x1 <= x0 || y1 <= y0) return undefined;
  const width = area[2] - area[0], height = area[3] - area[1];
  const made = node("span", `box ${kind}`);
  made.style.left = share(x0 - area[0], width);
  made.style.top = share(y0 - area[1], height);
  made.style.width = share(x1 - x0, width);
  made.style.height = share(y1 - y0, height);
  return made;
}

// Nodes for {kind, box} in this order: what comes later lies on top.
export function boxNodes(boxes, area) {
  return boxes.map(({ kind, box }) => boxNode(kind, box, area)).filter(Boolean);
}

export function intersection(a, b) {
  return [Math.max(a[0], b[0]), Math.max(a[1], b[1]), Math.min(a[2], b[2]), Math.min(a[3], b[3])];
}

// The smallest box around all of these, or null.
export function around(boxes) {
  return boxes.reduce((all, box) => (all ? [
    Math.min(all[0], box[0]), Math.min(all[1], box[1]), Math.max(all[2], box[2]), Math.max(all[3], box[3]),
  ] : [...box]), null);
}

function share(length, whole) {
  return `${((100 * length) / whole).toFixed(3)}%`;
}
