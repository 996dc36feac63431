// The text of an answer as nodes: figures that lead to their spot and wear their verdict, a chip at the end of each cited
// claim, and what stands in place of withheld sentences.

import { list, verdictOf } from "./answer.js";
import { node } from "./nodes.js";
import { leadsTo } from "./pointing.js";
import { citationTarget, figureTarget, placeTarget } from "./spots.js";
import { words } from "./words_answer.js";

export function textNodes(answer) {
  const { letters } = answer;
  const nodes = [];
  let at = 0;
  const textUpTo = (end) => {
    if (end > at) nodes.push(document.createTextNode(letters.slice(at, end).join("")));
    at = Math.max(at, end);
  };
  for (const insertion of insertions(answer)) {
    if (insertion.covers && insertion.at < at) continue;
    textUpTo(Math.min(insertion.at, letters.length));
    const made = insertion.make();
    if (insertion.number) at += markerLength(letters, at, insertion.number);
    if (!insertion.number || !repeats(nodes.at(-1), made)) nodes.push(made);
    at = Math.max(at, insertion.covers ?? 0);
  }
  textUpTo(letters.length);
  return nodes;
}

// What stands in the text besides itself, in order; at one place a chip comes before the figure that begins there.
function insertions(answer) {
  const { letters, policy } = answer;
  const chips = answer.citations.map((citation, index) => ({
    at: citation.end, rank: 0, number: citation.number, make: () => chip(answer, citation, `citation-${index}`),
  }));
  const withheld = answer.withheld.map((item, index) => ({ at: item.at, rank: 1, make: () => withheldNode(item, index) }));
  const uncited = answer.uncited.map((item) => ({
    at: item.end, rank: 1, make: () => node("span", "uncited", String(item.text ?? "").trim()),
  }));
  const figures = answer.figures
    .map((figure) => ({
      at: figure.start, covers: figure.end, rank: 2,
      make: () => figureNode(answer, figure, letters.slice(figure.start, figure.end).join(""), policy),
    }))
    .filter(({ at, covers }) => at < covers && covers <= letters.length);
  return [...chips, ...uncited, ...withheld, ...figures].sort((a, b) => a.at - b.at || a.rank - b.rank);
}

// The chip takes the place of the marker ` [1]` that the text itself has behind the claim.
function markerLength(letters, at, number) {
  const marker = `[${number}]`;
  const next = letters.slice(at, at + marker.length + 1).join("");
  if (next.startsWith(marker)) return marker.length;
  return next === ` ${marker}` ? marker.length + 1 : 0;
}

// A claim that rests twice on the very same words shows their number once.
function repeats(last, made) {
  return last?.classList?.contains("chip") && last.ariaLabel === made.ariaLabel && last.dataset.quote === made.dataset.quote;
}

export function chip(answer, citation, key) {
  const made = node("button", "chip");
  made.append(node("b", "", String(citation.number)), node("small", "", spotName(citation)));
  made.setAttribute("aria-label", words.citation(citation.number, citation.label ?? ""));
  made.dataset.quote = String(citation.cited_text ?? "");
  const others = () => answer.citations.filter((other) => other !== citation).map(citationTarget);
  return leadsTo(made, key, () => citationTarget(citation), others);
}

// `P4 · table`, `P4–5 · text`; a document without pages has only the kind.
export function spotName({ regions, element_type: kind }) {
  const pages = list(regions).map((region) => region?.page).filter(Number.isInteger);
  const [first, last] = [Math.min(...pages), Math.max(...pages)];
  const page = pages.length ? `P${first === last ? first : `${first}–${last}`}` : "";
  return [page, words.kinds[kind] ?? ""].filter(Boolean).join(" · ");
}

// Printed figures lead to their spot, computed ones to their formula; those without support say why, where the policy
// lets them stand.
function figureNode(answer, figure, text, policy) {
  const verdict = verdictOf(figure, policy);
  if (!verdict) return node("span", "", text);
  const made = figureButton(answer, figure, text, `figure-${figure.n}`, verdict);
  made.setAttribute("aria-label", `${text}, ${words.verdict(figure, verdict)}`);
  return made;
}

export function figureButton(answer, figure, text, key, verdict) {
  const made = node("button", `figure ${verdict}`, text);
  return leadsTo(made, key, () => figureTarget(figure), () => answer.citations.map(citationTarget));
}

// What stands in place of a sentence, and on demand why: never the figure itself that nothing supports, and where the
// sources print something else, the way there.
function withheldNode(item, index) {
  const made = node("details", "withheld");
  const summary = node("summary", "", String(item.text ?? "").trim() || words.withheld);
  const reasons = node("span", "reasons");
  for (const [n, { status, reason }] of list(item.figures).entries()) {
    if (status && words.supported.has(status)) continue;
    const line = node("span", "reason", words.withheldBecause(reason?.code ?? status));
    for (const [k, place] of list(reason?.nearest).slice(0, 2).entries()) {
      const target = placeTarget(place, { raw: String(place.printed ?? "").trim() });
      if (!target.places.length) continue;
      line.append(" ", leadsTo(node("button", "place", target.label), `withheld-${index}-${n}-${k}`, () => target));
    }
    reasons.append(line);
  }
  if (!reasons.childElementCount) reasons.append(node("span", "reason", words.withheldBecause("")));
  made.append(summary, reasons);
  return made;
}
