// A card beside a chip or a figure, while the pointer rests on it or the keyboard is at it: the crop of its spot, with
// the words tinted.

import { elementsOf, knownElements, pagesOf, regionPicture, sharpDpi } from "./book.js";
import { litCells } from "./cells.js";
import { around, boxNodes, intersection } from "./marks.js";
import { node } from "./nodes.js";
import { prepare } from "./reader.js";
import { words } from "./words_reader.js";

const REST = 120; // milliseconds that the pointer rests before the card comes
const GRACE = 160; // and in which it may go over to the card
const WIDTH = 480, HEIGHT = 240; // pixels, at most, of a crop
// What is shown around a spot, in points: a figure alone says little, its line and the neighbouring ones say what it is.
const AROUND = { x: 24, y: 18 };
const LEAST = { width: 400, height: 60 };
const HEADER = 130; // points that a table's header may lie above the spot to be in the crop

let card = null;
let owner = null; // the button whose card is shown
let coming = 0, going = 0;
let turn = 0; // counts showing and hiding, so that a card that comes late stays away

// `target` gives the target (spots.js) of what the button leads to; none, no card.
export function previewOn(button, target) {
  button.addEventListener("pointerenter", ({ pointerType }) => { if (pointerType !== "touch") soon(button, target); });
  button.addEventListener("focus", () => { if (button.matches(":focus-visible")) soon(button, target); });
  button.addEventListener("pointerleave", leave);
  button.addEventListener("blur", hidePreview);
  button.addEventListener("click", hidePreview);
}

export function hidePreview() {
  clearTimeout(coming);
  clearTimeout(going);
  turn += 1;
  if (!owner) return;
  owner.removeAttribute("aria-describedby");
  owner = null;
  card.hidden = true;
}

function soon(button, target) {
  clearTimeout(going);
  clearTimeout(coming);
  if (owner === button) return;
  const wanted = target();
  if (!wanted) return;
  const facts = factsOf(wanted);
  coming = setTimeout(() => show(button, wanted, facts), REST);
}

function leave() {
  clearTimeout(coming);
  going = setTimeout(hidePreview, GRACE);
}

// The page that the spot is on, or undefined; its elements come along, for the headers of a table.
async function factsOf({ documentId, places: [place] }) {
  if (!documentId || !place?.rects.length) return undefined;
  const elements = elementsOf(documentId, place.page).catch(() => []);
  try {
    const page = (await pagesOf(documentId)).find(({ number }) => number === place.page);
    await Promise.race([elements, new Promise((done) => { setTimeout(done, REST); })]);
    return page;
  } catch {
    return undefined;
  }
}

async function show(button, target, facts) {
  hidePreview();
  const mine = turn;
  const page = await facts;
  if (mine !== turn || !button.isConnected) return;
  makeCard();
  owner = button;
  const crop = page && cropNode(target, page);
  const rest = target.places.length - 1;
  card.replaceChildren(...[
    target.label && node("p", "preview-label", target.label),
    target.formula && node("p", "preview-formula", target.formula),
    crop,
    (!crop || target.note) && node("p", "preview-quote", target.note || target.quote),
    rest > 0 && node("p", "preview-more", words.more(rest)),
  ].filter(Boolean));
  card.hidden = false;
  beside(button);
  button.setAttribute("aria-describedby", card.id);
}

function makeCard() {
  if (card) return;
  card = node("div", "preview");
  card.id = "preview";
  card.setAttribute("role", "tooltip");
  card.addEventListener("pointerenter", () => clearTimeout(going));
  card.addEventListener("pointerleave", leave);
  document.body.append(card);
  addEventListener("scroll", hidePreview, { passive: true });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !owner) return;
    event.preventDefault(); // it closes the card, and nothing else
    hidePreview();
  }, true);
  // The answer draws itself anew as it comes: then there is no more leaving of a button that is gone.
  document.addEventListener("pointermove", () => { if (owner && !owner.isConnected) hidePreview(); }, { passive: true });
}

function cropNode(target, page) {
  const { documentId, places: [place] } = target;
  const cells = litCells(knownElements(documentId, page.number) ?? [], place);
  const crop = cropOf(place, cells, page);
  const width = Math.min(WIDTH, innerWidth - 48);
  const frame = node("div", "crop"), image = node("img");
  frame.style.width = `${width}px`;
  frame.style.aspectRatio = `${crop[2] - crop[0]} / ${crop[3] - crop[1]}`;
  image.alt = target.quote;
  image.addEventListener("load", () => prepare(target));
  image.addEventListener("error", () => frame.replaceWith(node("p", "preview-quote", target.quote)));
  image.src = regionPicture(documentId, page.number, crop, sharpDpi(page, width / (crop[2] - crop[0])));
  const boxes = (list, kind) => list.filter((cell) => cell.page === page.number).map(({ bbox }) => ({ kind, box: bbox }));
  const lit = target.places.filter((each) => each.page === page.number).flatMap(({ rects }) => rects.map((box) => ({ kind: "lit", box })));
  frame.append(image, ...boxNodes([...boxes([...cells.columnHeaders, ...cells.rowHeaders], "header"), ...lit], crop));
  return frame;
}

// What is shown of the page: the spot with its surroundings and, where they are near, its table's headers.
export function cropOf(place, { cells, rowHeaders, columnHeaders }, { width, height }) {
  const spot = around(place.rects);
  const near = [...cells, ...rowHeaders, ...columnHeaders].filter(({ page, bbox }) => page === place.page && spot[1] - bbox[1] < HEADER);
  const [x0, y0, x1, y1] = around([spot, ...near.map(({ bbox }) => bbox)]);
  const x = Math.max(AROUND.x, (LEAST.width - (x1 - x0)) / 2), y = Math.max(AROUND.y, (LEAST.height - (y1 - y0)) / 2);
  const left = Math.min(Math.max(x0 - x, 0), Math.max(width - (x1 - x0) - 2 * x, 0));
  const crop = [left, y0 - y, left + x1 - x0 + 2 * x, y1 + y];
  const most = ((crop[2] - crop[0]) * HEIGHT) / WIDTH;
  if (crop[3] - crop[1] > most) crop[3] = crop[1] + most;
  return intersection(crop, [0, 0, width, height]);
}

// Below the button, or above it where there is more room; never out of the window.
function beside(button) {
  const at = button.getBoundingClientRect(), gap = 8;
  const { offsetWidth, offsetHeight } = card;
  const below = innerHeight - at.bottom;
  const top = below > offsetHeight + 2 * gap || below > at.top ? at.bottom + gap : at.top - offsetHeight - gap;
  const left = Math.min(Math.max(at.left + at.width / 2 - offsetWidth / 2, gap), innerWidth - offsetWidth - gap);
  card.style.top = `${Math.max(top, gap)}px`;
  card.style.left = `${Math.max(left, gap)}px`;
}
