// Shows an answer: the one renderer for what is being written and for what was stored.

import { list, verdictOf } from "./answer.js";
import { chip, figureButton, spotName, textNodes } from "./answer_text.js";
import { $, node } from "./nodes.js";
import { leadsTo } from "./pointing.js";
import { sourceTarget } from "./spots.js";
import { words } from "./words_answer.js";

const NEAREST = 3;
const CROP_DPI = 130;

// `state` is "asking", "writing", "done" or "stopped"; `again` asks the question anew.
export function drawAnswer(answer, state, again) {
  const focused = document.activeElement?.dataset?.key;
  const open = [...document.querySelectorAll("#answer details")].map((each) => each.open);
  $("asked").textContent = answer.question;
  drawUnderstood(answer);
  $("answer").replaceChildren(...textNodes(answer));
  $("answer").classList.toggle("working", state === "asking" || state === "writing");
  document.querySelectorAll("#answer details").forEach((each, index) => { each.open = open[index] ?? false; });
  $("notices").replaceChildren(...notices(answer, state, again));
  drawReferences(answer);
  drawFigures(answer);
  drawMaterials(answer);
  if (focused) document.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
}

// What a follow-up question was taken for, so that a wrong guess is seen.
function drawUnderstood({ standalone, carried }) {
  const told = [standalone && words.understood(standalone), carried.length && words.stillIn(carried.join(", "))];
  $("understood").textContent = told.filter(Boolean).join(" · ");
  $("understood").hidden = $("understood").textContent === "";
}

// ---- How it ended

function notices(answer, state, again) {
  const made = [];
  if (answer.refusal) made.push(refusal(answer));
  const { error, end } = answer;
  if (error) {
    const failed = notice("error", words.failed, [error.message]);
    const more = [error.retryable && words.retry, error.request_id && `${words.request} ${error.request_id}`];
    failed.append(node("small", "", more.filter(Boolean).join(" ")));
    failed.append(againButton(answer, again));
    made.push(failed);
  } else if (state === "done" && !end?.complete) {
    const cut = notice("error", end ? words.cut : words.incomplete, []);
    cut.append(againButton(answer, again));
    made.push(cut);
  }
  return made;
}

function notice(kind, title, sentences) {
  const made = node("div", `notice ${kind}`);
  made.append(node("strong", "", title));
  const text = sentences.filter(Boolean).map(String).join(" ");
  if (text) made.append(node("span", "", text));
  return made;
}

function againButton({ question }, again) {
  const made = node("button", "again", words.again);
  made.type = "button";
  made.hidden = !question;
  made.addEventListener("click", again);
  return made;
}

// Calm, and of use: what was searched, what nothing names, and the passages that came nearest, as they are printed.
function refusal({ refusal: { message, missing, searched }, sources }) {
  const made = notice("calm", words.refused, [message]);
  const limits = [...list(searched?.chosen), ...list(searched?.element_types).map((kind) => words.kinds[kind] ?? kind)];
  const told = [
    list(missing).length > 0 && words.missing(missing.join(", ")),
    Number.isInteger(searched?.documents) && words.searched(searched.documents),
    limits.length > 0 && words.within(limits.join(", ")),
  ];
  made.append(node("p", "searched", told.filter(Boolean).join(" · ")));
  if (!sources.length) {
    made.append(node("p", "searched", words.noNearest));
    return made;
  }
  const nearest = node("ul", "nearest");
  nearest.append(...sources.slice(0, NEAREST).map((source, index) => {
    const item = node("li");
    item.append(leadsTo(passage(source), `nearest-${index}`, () => sourceTarget(source)));
    return item;
  }));
  made.append(node("h3", "", words.nearest), nearest);
  return made;
}

function passage(source) {
  const made = node("button", "passage");
  const label = String(source.label ?? source.document ?? "");
  const quote = node("span", "quote", shortened(source.text));
  made.append(node("b", "", label), quote);
  const { documentId, places: [place] } = sourceTarget(source);
  if (!documentId || !place?.bbox) return made;
  const crop = node("img");
  crop.alt = words.crop(label);
  crop.addEventListener("load", () => { quote.hidden = true; });
  crop.addEventListener("error", () => crop.remove());
  crop.src = `/v1/documents/${documentId}/pages/${place.page}/region.png?bbox=${place.bbox.join(",")}&dpi=${CROP_DPI}`;
  made.append(crop);
  return made;
}

// ---- What it rests on

function drawReferences(answer) {
  const first = new Map();
  for (const citation of answer.citations) if (!first.has(citation.number)) first.set(citation.number, citation);
  const items = [...first.entries()].sort(([a], [b]) => a - b).map(([number, citation]) => {
    const item = node("li"), said = node("span");
    said.append(node("b", "", String(citation.label ?? "")), " ", node("q", "", shortened(citation.cited_text, 600)));
    item.append(chip(answer, citation, `reference-${number}`), said);
    item.firstChild.querySelector("small").remove(); // the label says it
    return item;
  });
  $("references-list").replaceChildren(...items);
  $("references").hidden = items.length === 0;
}

// Every figure with its verdict in words, its formula, and the way to all places that tell its measure.
function drawFigures(answer) {
  const worn = answer.figures.map((figure) => [figure, verdictOf(figure, answer.policy)]).filter(([, verdict]) => verdict);
  $("figures-list").replaceChildren(...worn.map(([figure, verdict]) => figureItem(answer, figure, verdict)));
  $("figures-count").textContent = `(${worn.length})`;
  $("figures").hidden = worn.length === 0;
}

function figureItem(answer, figure, verdict) {
  const item = node("li", verdict);
  const raw = answer.letters.slice(figure.start, figure.end).join("") || String(figure.raw ?? "");
  item.append(figureButton(answer, figure, raw, `checked-${figure.n}`, verdict), node("span", "verdict", words.verdict(figure, verdict)));
  const shown = String(figure.derivation?.shown ?? "").split("; ")[0];
  if (shown) item.append(node("span", "formula", `${raw} = ${shown}`));
  const place = list(figure.support)[0];
  if (!shown && place?.page) item.append(node("span", "place", spotName({ regions: [place], element_type: place.cell ? "table" : "text" })));
  if (["unsupported", "conflict", "unsure"].includes(verdict) && figure.reason?.detail) item.append(node("span", "formula", String(figure.reason.detail)));
  if (answer.id) item.append(disputeLink(answer.id, figure.n, raw));
  return item;
}

function disputeLink(answerId, n, raw) {
  const made = node("a", "places", words.places);
  made.href = `#/answers/${answerId}/figures/${n}`;
  made.setAttribute("aria-label", words.placesOf(raw));
  return made;
}

function drawMaterials({ sources }) {
  const items = sources.map((source, index) => {
    const item = node("li");
    const button = node("button", "", String(source.label ?? source.document ?? ""));
    item.append(leadsTo(button, `source-${index}`, () => sourceTarget(source)));
    return item;
  });
  $("materials-list").replaceChildren(...items);
  $("materials-count").textContent = `(${items.length})`;
  $("materials").hidden = items.length === 0;
}

function shortened(text, most = 160) {
  const letters = Array.from(String(text ?? "").replace(/\s+/g, " "));
  return letters.length > most ? `${letters.slice(0, most).join("")}…` : letters.join("");
}
