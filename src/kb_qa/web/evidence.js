// The spot on the page: its picture, with what is quoted marked, the words themselves, and the ways to the original.

import { labels } from "./labels.js";
import { $, node } from "./nodes.js";

const PICTURE_DPI = 150;
const POINTS_PER_INCH = 72;
const MAX_PICTURES = 3;
// What is shown around a spot, in points: a figure alone says little, its line and the neighbouring ones say what it is.
const AROUND = { x: 24, y: 36 };
const LEAST_WIDTH = 460;

export function showCitation(citation) {
  showEvidence({
    label: citation.label, quote: citation.cited_text, places: citation.regions ?? [],
    documentId: citation.document_id,
  });
}

export function showSource(source) {
  showEvidence({ label: source.label, quote: source.text, places: source.regions ?? [], documentId: source.document_id });
}

// A computed figure shows its formula and its operands; one without support, why, and what the words fit better.
export function showFigure(figure) {
  const { derivation, reason } = figure;
  if (derivation) return showDerived(figure, derivation);
  const places = figure.support?.length ? figure.support : (reason?.nearest ?? []);
  showPlace(figure.raw, places[0], figure.support?.length ? "" : reason?.detail);
}

function showPlace(raw, place, detail) {
  const words = [raw, place?.row && placeName(place), place?.page && `P${place.page}`];
  showEvidence({
    label: words.filter(Boolean).join(" · "), quote: detail || place?.printed,
    places: place ? [place] : [], documentId: place?.document_id,
  });
}

function showDerived(figure, derivation) {
  const operands = derivation.places ?? [];
  showEvidence({
    label: `ƒ ${figure.raw}`, quote: "", places: operands.slice(0, 1), documentId: operands[0]?.document_id,
    formula: `${figure.raw} = ${String(derivation.shown ?? "").split("; ")[0]}`, operands,
  });
}

function placeName(place) {
  return [place.row, place.col].filter(Boolean).join(" × ");
}

function operandNode(place, all) {
  const made = node("button", "operand", String(place.printed ?? "").trim());
  made.type = "button";
  made.title = [placeName(place), place.page && `P${place.page}`].filter(Boolean).join(" · ");
  made.append(node("small", "", ` ${made.title}`));
  made.addEventListener("click", () => {
    showPictures([place], place.document_id, made.title);
    for (const other of all()) other.setAttribute("aria-pressed", String(other === made));
  });
  return made;
}

// `places` are {page, bbox, rects} in points; rects are what is marked, the bbox where there are none.
function showEvidence({ label, quote, places, documentId, formula = "", operands = [] }) {
  $("evidence").hidden = false;
  $("evidence-label").textContent = String(label ?? "");
  $("evidence-quote").textContent = String(quote ?? "");
  $("evidence-quote").hidden = !quote;
  $("evidence-formula").textContent = formula;
  $("evidence-formula").hidden = !formula;
  const chips = () => $("evidence-operands").children;
  $("evidence-operands").replaceChildren(...operands.map((place) => operandNode(place, chips)));
  $("evidence-operands").hidden = operands.length === 0;
  showPictures(places, documentId, label);
}

function showPictures(places, documentId, label) {
  const known = /^[0-9a-f]{64}$/.test(documentId ?? "");
  const pictured = known ? places.filter((place) => isPage(place.page) && isBox(place.bbox)).slice(0, MAX_PICTURES) : [];
  const first = known ? places.find((place) => isPage(place.page)) : undefined;
  $("evidence-missing").textContent = labels.noPicture;
  $("evidence-missing").hidden = pictured.length > 0;
  $("evidence-pictures").replaceChildren(...pictured.map((place) => pictureNode(place, documentId, label)));
  link($("evidence-page"), first && `/v1/documents/${documentId}/pages/${first.page}.png`);
  link($("evidence-original"), known && `/v1/documents/${documentId}/file`);
}

function isPage(page) {
  return Number.isInteger(page) && page > 0;
}

function isBox(box) {
  return Array.isArray(box) && box.length === 4 && box.every(Number.isFinite);
}

function pictureNode(place, documentId, label) {
  const crop = surroundings(place.bbox);
  const frame = node("a", "picture");
  const image = node("img");
  const page = `/v1/documents/${documentId}/pages/${place.page}`;
  frame.target = "_blank";
  frame.rel = "noopener noreferrer";
  frame.href = `${page}.png`;
  image.alt = labels.picture(label ?? "");
  image.addEventListener("load", () => frame.append(...markNodes(place, crop, image)));
  image.addEventListener("error", () => {
    frame.remove();
    $("evidence-missing").hidden = false;
  });
  image.src = `${page}/region.png?bbox=${crop.map((value) => value.toFixed(2)).join(",")}&dpi=${PICTURE_DPI}`;
  frame.append(image);
  return frame;
}

function surroundings([x0, y0, x1, y1]) {
  const x = Math.max(AROUND.x, (LEAST_WIDTH - (x1 - x0)) / 2);
  return [Math.max(0, x0 - x), Math.max(0, y0 - AROUND.y), x1 + x, y1 + AROUND.y];
}

// The picture may be cut at the right and bottom edge of the page, so places are reckoned from its top left corner.
function markNodes(place, [left, top], image) {
  const scale = PICTURE_DPI / POINTS_PER_INCH;
  const width = image.naturalWidth / scale, height = image.naturalHeight / scale;
  const share = (length, whole) => `${((100 * length) / whole).toFixed(2)}%`;
  const boxes = (place.rects ?? []).filter(isBox);
  return (boxes.length ? boxes : [place.bbox]).map(([x0, y0, x1, y1]) => {
    const mark = node("span", "mark");
    mark.style.left = share(x0 - left, width);
    mark.style.top = share(y0 - top, height);
    mark.style.width = share(x1 - x0, width);
    mark.style.height = share(y1 - y0, height);
    return mark;
  });
}

function link(anchor, url) {
  anchor.hidden = !url;
  if (url) anchor.href = url;
}

export function revealEvidence() {
  $("evidence").scrollIntoView({ block: "nearest", behavior: "auto" });
}
