// What the service knows of a document's pages, asked once, and the addresses of their pictures.

import { getJson } from "./requests.js";

const MOST_KEPT = 200; // answers of the service: of the pages of a document, of the elements of a page
const POINTS_PER_INCH = 72;
// Few resolutions, so that pictures are found again: in the browser, and among those that the service keeps.
const RESOLUTIONS = [48, 72, 96, 120, 144, 192, 240, 288, 384, 480, 600];
const MOST_PIXELS = 16e6; // of one picture: below the service's own budget

export const FIRST_DPI = RESOLUTIONS[0];

const kept = new Map(); // path → {promise, value}

function asked(path) {
  if (kept.has(path)) return kept.get(path);
  if (kept.size >= MOST_KEPT) kept.delete(kept.keys().next().value);
  const entry = { value: undefined };
  entry.promise = getJson(path).then((value) => (entry.value = value));
  entry.promise.catch(() => kept.delete(path));
  kept.set(path, entry);
  return entry;
}

// [{number, width, height, label, …}], sizes in points.
export async function pagesOf(documentId) {
  return (await asked(pagesPath(documentId)).promise).pages;
}

// The same where it is known already, else undefined.
export function knownPages(documentId) {
  return kept.get(pagesPath(documentId))?.value?.pages;
}

export async function elementsOf(documentId, number) {
  return (await asked(elementsPath(documentId, number)).promise).elements;
}

export function knownElements(documentId, number) {
  return kept.get(elementsPath(documentId, number))?.value?.elements;
}

function pagesPath(documentId) {
  return `/v1/documents/${documentId}/pages`;
}

function elementsPath(documentId, number) {
  return `${pagesPath(documentId)}/${number}/elements`;
}

export function pagePicture(documentId, number, dpi) {
  return `${pagesPath(documentId)}/${number}.png?dpi=${dpi}`;
}

export function regionPicture(documentId, number, box, dpi) {
  return `${pagesPath(documentId)}/${number}/region.png?bbox=${box.map((value) => value.toFixed(2)).join(",")}&dpi=${dpi}`;
}

export function originalFile(documentId) {
  return `/v1/documents/${documentId}/file`;
}

// The least resolution that is sharp on this screen at `scale` CSS pixels a point.
export function sharpDpi({ width, height }, scale) {
  const wanted = scale * devicePixelRatio * POINTS_PER_INCH;
  const most = POINTS_PER_INCH * Math.sqrt(MOST_PIXELS / (width * height));
  const possible = RESOLUTIONS.filter((dpi) => dpi <= most);
  return possible.find((dpi) => dpi >= wanted * 0.98) ?? possible.at(-1) ?? FIRST_DPI;
}

// Asks for a picture that will be wanted soon: then it is drawn, and near.
export function prefetchPicture(documentId, number, dpi) {
  new Image().src = pagePicture(documentId, number, dpi);
}
