// What the parser saw: a page with its elements drawn over it by type, beside them their text; for a document without
// pages, the text alone.

import { $, node } from "./nodes.js";
import { qualityNode } from "./documents.js";
import { getJson } from "./requests.js";
import { replaceAddress } from "./router.js";
import { elementItem, groupOf, GROUPS, layerOf } from "./seen_elements.js";
import { words } from "./words_documents.js";

const KEPT = "kb-qa-layers"; // which layers a reader turned off, while the tab lives
const MOST_DPI = 300;

let view = null; // {documentId, item, pages, parts} of the document that is shown
let asked = 0; // the number of the last request: what an older one brings is not shown any more

export async function showDocument({ documentId, page = 1 }) {
  const mine = ++asked;
  try {
    if (view?.documentId !== documentId) await open(documentId, mine);
    if (mine === asked) await (view.pages.length ? turnTo(page, mine) : showWhole(mine));
  } catch (error) {
    if (mine !== asked) return;
    view = null;
    $("document").replaceChildren(backLink(), node("p", "quiet", error.status === 404 ? words.documentFailed : error.message || words.documentFailed));
  }
}

async function open(documentId, mine) {
  const item = await getJson(`/v1/documents/${documentId}`);
  const pages = item.state === "ready" ? (await getJson(`/v1/documents/${documentId}/pages`)).pages : [];
  if (mine === asked) view = { documentId, item, pages, parts: built(item, pages) };
}

function backLink() {
  const made = node("a", "back", words.back);
  made.href = "#/documents";
  return made;
}

function built(item, pages) {
  const heading = node("h2", "", item.names[0] ?? item.document_id.slice(0, 12));
  const original = node("a", "", words.original);
  original.href = item.file_url;
  const head = node("div", "document-head");
  head.append(backLink(), heading, original);
  const quality = qualityNode(item);
  if (quality) head.append(quality);
  const parts = { heading, list: node("ol", "elements"), listTitle: node("h3", "", pages.length ? words.read : words.readWhole) };
  const side = node("div", "read");
  if (!pages.length) {
    const why = item.state === "ready" ? words.withoutPages : [item.reason, item.advice || words.notReady].filter(Boolean).join(" ");
    side.append(node("p", "quiet", why), parts.listTitle, parts.list);
    $("document").replaceChildren(head, side);
    return parts;
  }
  Object.assign(parts, pageParts(pages));
  side.append(parts.listTitle, node("p", "hint keys", words.keys), parts.list);
  const columns = node("div", "seen");
  const left = node("div", "seen-page");
  left.append(parts.turner, parts.grade, parts.legend, parts.readout, parts.canvas);
  columns.append(left, side);
  $("document").replaceChildren(head, columns);
  return parts;
}

function pageParts(pages) {
  const turner = node("div", "turner");
  const [previous, next] = [turnButton("‹", words.previous, -1), turnButton("›", words.next, 1)];
  const choice = node("select");
  choice.setAttribute("aria-label", words.page);
  for (const { number, label, grade } of pages) {
    const named = label && label !== String(number) ? ` (${label})` : "";
    const graded = words.gradeShort[grade] ? ` · ${words.gradeShort[grade]}` : "";
    choice.append(new Option(`${number}${named}${graded}`, number));
  }
  choice.addEventListener("change", () => turn(Number(choice.value)));
  turner.append(previous, node("span", "", words.page), choice, node("span", "", words.of(pages.length)), next);
  const canvas = node("div", "canvas");
  const legend = node("fieldset", "legend");
  const grade = node("div", "page-grade");
  grade.setAttribute("role", "status");
  return { turner, previous, next, choice, canvas, legend, grade, readout: node("p", "readout") };
}

function turnButton(sign, name, step) {
  const made = node("button", "plain turn", sign);
  made.type = "button";
  made.setAttribute("aria-label", name);
  made.addEventListener("click", () => turn(at() + step));
  return made;
}

function at() {
  return Number(view?.parts.choice?.value ?? 0);
}

function turn(number) {
  if (!view.pages.some((page) => page.number === number)) return;
  replaceAddress(`#/documents/${view.documentId}/pages/${number}`);
  showDocument({ documentId: view.documentId, page: number });
}

async function turnTo(number, mine) {
  const page = view.pages.find((each) => each.number === number) ?? view.pages[0];
  const { parts, pages, documentId } = view;
  parts.choice.value = page.number;
  parts.previous.disabled = page === pages[0];
  parts.next.disabled = page === pages.at(-1);
  parts.grade.replaceChildren(...gradeNodes(page));
  parts.canvas.replaceChildren(pictureOf(documentId, page));
  parts.canvas.style.aspectRatio = `${page.width} / ${page.height}`;
  parts.list.replaceChildren();
  parts.readout.textContent = "";
  const { elements } = await getJson(`/v1/documents/${documentId}/pages/${page.number}/elements`);
  if (mine === asked) drawElements(page, elements);
}

function gradeNodes(page) {
  if (page.grade === "good") return [];
  const reasons = node("span", "", page.reasons.join(" · "));
  return [node("span", `grade ${page.grade}`, words.grades[page.grade] ?? page.grade), " ", reasons];
}

// At the screen's own resolution, in few steps, so that pictures are found again.
function pictureOf(documentId, page) {
  const made = node("img");
  const width = view.parts.canvas.clientWidth || 700;
  const dpi = Math.min(MOST_DPI, Math.ceil((width * devicePixelRatio * 72) / page.width / 36) * 36);
  Object.assign(made, { alt: words.sawPicture(page.number), decoding: "async" });
  made.addEventListener("error", () => made.replaceWith(node("p", "quiet", words.pageFailed)));
  made.src = `/v1/documents/${documentId}/pages/${page.number}.png?dpi=${Math.max(36, dpi)}`;
  return made;
}

function drawElements(page, elements) {
  const { parts } = view;
  const pairs = elements.map((element, index) => {
    const layer = layerOf(element, page, index + 1, showCell);
    const item = elementItem(element, index + 1);
    return { element, layer, item };
  });
  for (const pair of pairs) bind(pair, pairs);
  parts.canvas.append(...pairs.map(({ layer }) => layer));
  parts.list.replaceChildren(...pairs.map(({ item }) => item));
  if (!pairs.length) parts.list.replaceChildren(node("li", "quiet", words.nothing));
  drawLegend(elements);
  const first = parts.list.querySelector("button");
  if (first) first.tabIndex = 0;
}

function showCell(text) {
  view.parts.readout.textContent = `${words.cell}: ${text}`;
}

// An element and its text are one: pointing at either, or having the focus, marks both.
function bind({ layer, item }, pairs) {
  const button = item.querySelector("button");
  const point = (on) => {
    layer.classList.toggle("pointed", on);
    item.classList.toggle("pointed", on);
  };
  for (const each of [layer, item]) {
    each.addEventListener("pointerenter", () => point(true));
    each.addEventListener("pointerleave", () => point(false));
  }
  const choose = () => {
    for (const each of pairs) {
      const chosen = each.item === item;
      for (const half of [each.item, each.layer]) half.classList.toggle("chosen", chosen);
      const other = each.item.querySelector("button");
      other.setAttribute("aria-expanded", chosen);
      other.tabIndex = chosen ? 0 : -1;
    }
  };
  button.addEventListener("focus", choose);
  button.addEventListener("click", choose);
  layer.addEventListener("click", () => button.focus());
}

function letGo() {
  for (const each of $("document").querySelectorAll(".chosen")) each.classList.remove("chosen");
  for (const each of $("document").querySelectorAll("[aria-expanded=true]")) each.setAttribute("aria-expanded", "false");
}

// A layer for each group of types that is on the page, and for reading order and cells.
function drawLegend(elements) {
  const { legend, canvas } = view.parts;
  const counts = new Map();
  for (const element of elements) counts.set(groupOf(element), (counts.get(groupOf(element)) ?? 0) + 1);
  const groups = GROUPS.filter((group) => counts.has(group));
  const off = turnedOff();
  const layers = [...groups, "order", ...(counts.has("table") ? ["cells"] : [])];
  legend.replaceChildren(node("legend", "", words.legend), ...layers.map((name) => {
    const label = node("label", `layer ${name}`);
    const box = node("input");
    Object.assign(box, { type: "checkbox", checked: !off.has(name) });
    box.addEventListener("change", () => toggle(name, box.checked));
    label.append(box, node("span", "swatch"), words.kinds[name] ?? words[name], counts.has(name) ? node("small", "", ` ${counts.get(name)}`) : "");
    return label;
  }));
  for (const name of [...GROUPS, "order", "cells"]) canvas.classList.toggle(`no-${name}`, off.has(name));
}

function turnedOff() {
  try {
    return new Set((sessionStorage.getItem(KEPT) ?? "").split(" "));
  } catch {
    return new Set(); // the browser stores nothing for this page
  }
}

function toggle(name, on) {
  const off = turnedOff();
  if (on) off.delete(name);
  else off.add(name);
  try {
    sessionStorage.setItem(KEPT, [...off].join(" ").trim());
  } catch { /* as above */ }
  view.parts.canvas.classList.toggle(`no-${name}`, !on);
}

// All of a document without pages, a part at a time.
async function showWhole(mine) {
  const { list } = view.parts;
  list.replaceChildren();
  if (view.item.state !== "ready") return;
  await showFrom(0, list, mine);
}

async function showFrom(first, list, mine) {
  const { elements, next } = await getJson(`/v1/documents/${view.documentId}/elements?first=${first}`);
  if (mine !== asked) return;
  const pairs = elements.map((element) => ({ layer: node("i"), item: elementItem(element, element.order + 1) }));
  for (const pair of pairs) bind(pair, pairs);
  list.append(...pairs.map(({ item }) => item));
  const start = list.querySelector("button");
  if (start) start.tabIndex = 0;
  if (next === null) return;
  const more = node("li", "more");
  const button = node("button", "plain", words.more);
  button.type = "button";
  button.addEventListener("click", () => {
    more.remove();
    showFrom(next, list, mine);
  });
  more.append(button);
  list.append(more);
}

function onKey(event) {
  if (!view || $("document").hidden || $("documents-view").hidden || event.altKey || event.ctrlKey || event.metaKey) return;
  if (event.target.closest?.("input, select, textarea, dialog")) return;
  const step = { ArrowLeft: -1, ArrowRight: 1, PageUp: -1, PageDown: 1 }[event.key];
  if (step && view.pages.length) {
    event.preventDefault();
    turn(at() + step);
  } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    walk(event, event.key === "ArrowDown" ? 1 : -1);
  } else if (event.key === "Escape") {
    letGo();
  }
}

function walk(event, step) {
  const buttons = [...view.parts.list.querySelectorAll(".element > button")];
  const here = buttons.indexOf(document.activeElement);
  if (here < 0) return; // the arrows scroll, as anywhere
  event.preventDefault();
  buttons[Math.min(buttons.length - 1, Math.max(0, here + step))].focus();
}

addEventListener("keydown", onKey);
