// The source panel: the page beside the answer, at the spot that a citation or a figure came from. Targets: spots.js.

import {
  elementsOf, FIRST_DPI, knownElements, knownPages, originalFile, pagePicture, pagesOf, prefetchPicture, sharpDpi,
} from "./book.js";
import { litCells } from "./cells.js";
import { around } from "./marks.js";
import { $ } from "./nodes.js";
import { PageColumn, scaleFor } from "./reader_pages.js";
import { makePanel } from "./reader_panel.js";
import { arrange, isNarrow, onWidthChange } from "./sheet.js";
import { words } from "./words_reader.js";

const LATE = 600; // milliseconds after which what is shown is not moved any more

const calm = matchMedia("(prefers-reduced-motion: reduce)");
let panel = null;
let column = null;
let opener = null;
let turn = 0; // counts what was shown, so that late news of something else is dropped
// The target; of it or of an operand what is looked at, and which of its places; others of the answer.
let shown = { target: null, spot: null, at: 0, faint: [] };

export function readerIsOpen() {
  return panel !== null && !$("source").hidden;
}

// Opens the page at the target, with `faint` (other targets) faintly marked where they are of the same document. Focus
// stays where it is, unless `focus` asks for it or the reader covers the screen.
export async function showTarget(target, { faint = [], focus = false } = {}) {
  open();
  shown = { target, spot: target, at: 0, faint };
  panel.describe(target, { onOperand: showOperand });
  await showSpot();
  if (focus && readerIsOpen()) panel.focus();
}

export function closeReader() {
  if (!readerIsOpen()) return;
  turn += 1;
  const within = $("source").contains(document.activeElement) || isNarrow();
  $("source").hidden = true;
  arrange($("source"));
  column.clear();
  if (within) giveBackFocus();
  $("source").dispatchEvent(new CustomEvent("readerclose", { bubbles: true }));
}

// Fetches the page's picture ahead, in the size in which it will probably be shown.
export function prepare({ documentId, places: [place] }) {
  const page = knownPages(documentId)?.find(({ number }) => number === place?.page);
  if (!page) return;
  const elements = knownElements(documentId, page.number) ?? [];
  const box = boxAround(place, litCells(elements, place)) ?? [0, 0, page.width, page.height];
  const { clientWidth } = panel?.scroller ?? {};
  prefetchPicture(documentId, page.number, FIRST_DPI);
  prefetchPicture(documentId, page.number, sharpDpi(page, scaleFor(page, box, clientWidth || probableWidth())));
}

function probableWidth() {
  return isNarrow() ? innerWidth : Math.min(innerWidth, 1600) / 2;
}

function open() {
  if (panel === null) start();
  if (readerIsOpen()) return;
  opener = document.activeElement;
  $("source").hidden = false;
  arrange($("source"));
  if (isNarrow()) panel.focus();
}

function start() {
  const act = {
    close: closeReader, step: stepTo,
    turn: (step) => column.turn(step, { smooth: !calm.matches }),
    zoom: (factor, at) => column.zoom(column.scale * factor, at),
    fit: () => column.fit(),
    end: (last) => column.turn(last ? Infinity : -Infinity),
  };
  panel = makePanel($("source"), act);
  column = new PageColumn(panel.scroller, () => tellPage());
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || event.defaultPrevented || !readerIsOpen()) return;
    event.preventDefault();
    closeReader();
  });
  addEventListener("hashchange", closeReader);
  onWidthChange(() => arrange($("source")));
}

// What is focused may have been drawn anew meanwhile: then its successor, by its key.
function giveBackFocus() {
  const key = opener?.dataset?.key;
  const again = opener?.isConnected ? opener : key && document.querySelector(`[data-key="${CSS.escape(key)}"]`);
  again?.focus?.({ preventScroll: true });
}

// ---- What is shown of the target

function showOperand(operand) {
  shown = { ...shown, spot: operand, at: 0 };
  showSpot();
}

function stepTo(step) {
  const count = shown.spot.places.length;
  shown.at = (shown.at + step + count) % count;
  showSpot({ smooth: !calm.matches });
}

async function showSpot({ smooth = false } = {}) {
  const mine = ++turn;
  const { spot } = shown;
  const since = performance.now();
  panel.showSpot(spot, shown.at);
  if (column.documentId !== spot.documentId) column.clear(); // no pages of one document under the title of another
  const pages = spot.documentId ? (knownPages(spot.documentId) ?? await loaded(pagesOf(spot.documentId), mine)) : [];
  if (mine !== turn || !readerIsOpen()) return;
  const place = spot.places[shown.at];
  const problem = problemOf(pages, place);
  panel.showProblem(problem);
  link(place && !problem ? place.page : 0);
  if (problem) return column.clear();
  column.open(spot.documentId, pages);
  draw(place, { smooth });
  await lightCells(place, mine, since);
}

function problemOf(pages, place) {
  if (pages === null) return words.failed;
  if (!pages.length) return words.noPages;
  return pages.some(({ number }) => number === place?.page) ? "" : words.noPlace;
}

async function loaded(asked, mine) {
  panel.busy(true);
  try {
    return await asked;
  } catch {
    return null;
  } finally {
    if (mine === turn) panel.busy(false);
  }
}

// At once with what is known; with the headers of the table, as soon as they are.
function draw(place, options) {
  const cells = cellsNow();
  column.mark([...faintBoxes(), ...cellBoxes(cells), ...litBoxes(place)]);
  column.reveal(place.page, focusBox(place, cells), options);
}

async function lightCells(place, mine, since) {
  const { documentId, places } = shown.spot;
  const missing = [...new Set(places.map(({ page }) => page))].filter((page) => !knownElements(documentId, page));
  if (!missing.length) return;
  await Promise.allSettled(missing.map((page) => elementsOf(documentId, page)));
  if (mine !== turn || !readerIsOpen()) return;
  const cells = cellsNow();
  column.mark([...faintBoxes(), ...cellBoxes(cells), ...litBoxes(place)]);
  if (performance.now() - since < LATE && column.untouched) column.reveal(place.page, focusBox(place, cells));
}

function cellsNow() {
  const { documentId, places } = shown.spot;
  return places.map((place) => litCells(knownElements(documentId, place.page) ?? [], place));
}

function cellBoxes(found) {
  const boxes = (cells, kind) => cells.map(({ page, bbox }) => ({ page, kind, box: bbox }));
  return found.flatMap(({ cells, rowHeaders, columnHeaders }) => [
    ...boxes(columnHeaders, "header column-header"), ...boxes(rowHeaders, "header row-header"), ...boxes(cells, "cell"),
  ]);
}

function litBoxes(current) {
  return shown.spot.places.flatMap((place) => place.rects.map((box) => (
    { page: place.page, kind: place === current ? "lit current" : "lit", box }
  )));
}

// Other citations of the answer, and the other operands, where they are in the document that is open.
function faintBoxes() {
  const { spot, target, faint } = shown;
  const lit = new Set(spot.places.flatMap(({ page, rects }) => rects.map((box) => `${page} ${box}`)));
  const others = [...faint, ...target.operands].filter((other) => other !== spot && other.documentId === spot.documentId);
  const boxes = others.flatMap(({ places }) => places.flatMap(({ page, rects }) => rects.map((box) => ({ page, kind: "faint", box }))));
  return boxes.filter(({ page, box }) => !lit.has(`${page} ${box}`));
}

// What is zoomed to: the place with its headers, where these are near enough to be seen together with it.
function focusBox(place, found) {
  const all = boxAround(place, found[shown.at]), box = around(place.rects);
  if (!box) return null;
  const sameView = (all[3] - all[1]) * column.fitting() < 0.6 * panel.scroller.clientHeight;
  return sameView ? all : [all[0], box[1], all[2], box[3]];
}

function boxAround({ page, rects }, { cells, rowHeaders, columnHeaders }) {
  const beside = [...cells, ...rowHeaders, ...columnHeaders].filter((cell) => cell.page === page);
  return around([...rects, ...beside.map(({ bbox }) => bbox)]);
}

function tellPage() {
  const frame = column.frames[column.current];
  if (!frame) return;
  panel.showPage(frame.page, column.frames.length, column.scale, column.fitting());
  link(frame.page.number);
}

function link(page) {
  const { documentId } = shown.spot;
  panel.link(page && pagePicture(documentId, page, 200), documentId && originalFile(documentId));
}
