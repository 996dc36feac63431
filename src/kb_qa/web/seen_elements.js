// One element that the parser saw, as boxes over its page and as an item with its text.

import { node } from "./nodes.js";
import { isBox } from "./spots.js";
import { words } from "./words_documents.js";

export const GROUPS = ["title", "text", "list", "table", "image", "caption", "code", "furniture", "hidden"];

const BY_CATEGORY = {
  Title: "title", ListItem: "list", Table: "table", Image: "image", FigureCaption: "caption", Footnote: "caption",
  Formula: "code", CodeSnippet: "code", Header: "furniture", Footer: "furniture", PageNumber: "furniture",
};
const CLIP = 160; // characters of an element that is not chosen

export function groupOf({ category, element_type: kind, hidden }) {
  if (hidden) return "hidden";
  return BY_CATEGORY[category] ?? { table: "table", image: "image" }[kind] ?? "text";
}

// The element's boxes on this page, its number, and its cells; `onCell(text)` is told the cell that is pointed at.
export function layerOf(element, page, number, onCell) {
  const made = node("div", `layer ${groupOf(element)}`);
  const boxes = element.regions.filter((region) => region.page === page.number && isBox(region.bbox));
  for (const { bbox } of boxes) made.append(boxNode("box", bbox, page));
  if (boxes.length) {
    const badge = node("span", "number", number);
    put(badge, boxes[0].bbox, page);
    made.append(badge);
  }
  for (const cell of element.table?.cells ?? []) {
    if (cell.page !== page.number || !isBox(cell.bbox)) continue;
    const box = boxNode("cell", cell.bbox, page);
    box.addEventListener("pointerenter", () => onCell(cellText(cell)));
    made.append(box);
  }
  made.setAttribute("aria-hidden", "true"); // the list says the same in words
  return made;
}

function boxNode(className, bbox, page) {
  const made = node("div", className);
  put(made, bbox, page);
  const [x0, y0, x1, y1] = bbox;
  made.style.width = `${((x1 - x0) / page.width) * 100}%`;
  made.style.height = `${((y1 - y0) / page.height) * 100}%`;
  return made;
}

function put(made, [x0, y0], page) {
  made.style.left = `${(x0 / page.width) * 100}%`;
  if (made.className === "number") made.style.left = `max(22px, ${made.style.left})`; // it stands in the margin, if there is one
  made.style.top = `${(y0 / page.height) * 100}%`;
}

function cellText({ text, row_headers: rows = [], column_headers: columns = [] }) {
  const headers = [rows.join(" / "), columns.join(" / ")].filter(Boolean).join(" × ");
  return [headers, text || words.emptyCell].filter(Boolean).join(": ");
}

export function elementItem(element, number) {
  const group = groupOf(element);
  const made = node("li", `element ${group}`);
  const button = node("button");
  button.type = "button";
  button.tabIndex = -1;
  button.setAttribute("aria-expanded", "false");
  const text = element.text.trim() || words.noText;
  const short = text.length > CLIP ? `${text.slice(0, CLIP)}…` : text;
  const category = node("span", "category", words.categories[element.category] ?? element.category);
  category.prepend(node("span", "swatch"));
  button.append(node("span", "number", number), category, node("span", "short", short));
  const details = node("div", "details");
  // Only once it is wanted: a sheet may have thousands of cells.
  const fill = () => details.children.length || details.append(element.table ? tableNode(element.table) : node("p", "whole", text), factsNode(element));
  button.addEventListener("focus", fill);
  button.addEventListener("click", fill);
  made.append(button, details);
  return made;
}

function tableNode({ cells }) {
  const made = node("table");
  const rows = new Map();
  for (const cell of cells) {
    if (!rows.has(cell.row)) rows.set(cell.row, node("tr"));
    const shown = node("td", isHeader(cell) ? "header" : "", cell.text);
    shown.colSpan = cell.column_span ?? 1;
    shown.rowSpan = cell.row_span ?? 1;
    rows.get(cell.row).append(shown);
  }
  made.append(...[...rows.entries()].sort(([one], [other]) => one - other).map(([, row]) => row));
  const scroll = node("div", "scroll");
  scroll.append(made);
  return scroll;
}

function isHeader({ row_headers: rows = [], column_headers: columns = [] }) {
  return !rows.length && !columns.length;
}

function factsNode(element) {
  const { facts } = words;
  const made = node("dl");
  const add = (name, value) => value && made.append(node("dt", "", name), node("dd", "", value));
  add(facts.category, `${element.category} (${element.element_type})`);
  add(facts.section, element.section?.join(" › "));
  add(facts.origin, words.origins[element.origin] ?? element.origin);
  const confidence = element.table?.confidence ?? element.confidence;
  add(facts.confidence, typeof confidence === "number" ? `${Math.round(confidence * 100)} %` : "");
  if (element.table) add(facts.grid, words.grid(...sizeOf(element.table.cells)));
  add(facts.hidden, element.hidden);
  add(facts.describedBy, element.described_by);
  return made;
}

function sizeOf(cells) {
  const most = (end) => cells.reduce((known, cell) => Math.max(known, end(cell)), 0);
  return [most((cell) => cell.row + (cell.row_span ?? 1)), most((cell) => cell.column + (cell.column_span ?? 1))];
}
