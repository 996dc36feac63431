// One figure of an answer: every place that tells its measure side by side, and what its reader decides of it.

import { $, node } from "./nodes.js";
import { showTarget } from "./reader.js";
import { getJson, sendJson } from "./requests.js";
import { mayWrite } from "./rights.js";
import { isBox, placeName, placeTarget } from "./spots.js";
import { words } from "./words_dispute.js";

const CROP_DPI = 150;
const REGION = /^\/v1\/documents\/[0-9a-f]{64}\/pages\/[0-9]+\/region\.png\?/;
const LEAST = { width: 280, height: 18 }; // points
const SENTENCE_END = /(?<=[.!?]\s)|(?<=[。！？\n])/u;

let asked = 0; // the number of the last request: what an older one brings is not shown any more

export async function showDispute({ answerId, n }) {
  const mine = ++asked;
  const base = `/v1/answers/${answerId}`;
  const section = $("dispute");
  if (section.dataset.figure !== `${answerId}/${n}`) section.replaceChildren(backLink(answerId));
  section.dataset.figure = `${answerId}/${n}`;
  try {
    const [found, answer, all, writes] = await Promise.all([
      getJson(`${base}/figures/${n}`), getJson(base), getJson(`${base}/figures`), mayWrite(),
    ]);
    if (mine !== asked) return;
    draw(section, { ...found, answerId, n, answer, count: all.figures.length, writes });
  } catch (error) {
    if (mine !== asked) return;
    section.replaceChildren(backLink(answerId), node("p", "quiet", error.status === 404 ? words.missing : words.failed));
  }
}

function draw(section, told) {
  const heading = node("h2", "", told.figure.raw);
  heading.tabIndex = -1;
  section.setAttribute("aria-label", told.figure.raw);
  section.replaceChildren(
    navigation(told), heading, sentenceNode(told), verdictNode(told), placesNode(told), decisionNode(told), recordNode(told),
  );
  if (document.activeElement === document.body) heading.focus({ preventScroll: true }); // the link that led here is gone
}

function backLink(answerId) {
  const made = node("a", "back", words.back);
  made.href = `#/answers/${answerId}`;
  return made;
}

function navigation({ answerId, n, count }) {
  const made = node("nav", "figures");
  const step = (to, sign, name) => {
    const link = node("a", "turn", sign);
    link.href = `#/answers/${answerId}/figures/${to}`;
    link.setAttribute("aria-label", name);
    return link;
  };
  made.append(backLink(answerId), node("span", "where", words.figureOf(n, count)));
  if (n > 1) made.append(step(n - 1, "‹", words.previous));
  if (n < count) made.append(step(n + 1, "›", words.next));
  made.setAttribute("aria-label", words.figureOf(n, count));
  return made;
}

// The question, and the sentence of the answer with the figure marked. Spans count characters, not UTF-16 units.
function sentenceNode({ answer, figure }) {
  const made = node("div", "said");
  if (answer.question) made.append(node("p", "asked", words.asked(answer.question)));
  const letters = [...(answer.text ?? "")];
  if (!(figure.end > figure.start) || figure.end > letters.length) return made;
  let [start, end] = [0, letters.length];
  for (let at = 0, rest = letters.join("").split(SENTENCE_END); rest.length; rest.shift()) {
    const length = [...rest[0]].length;
    if (at <= figure.start && figure.start < at + length) [start, end] = [at, Math.max(at + length, figure.end)];
    at += length;
  }
  const text = (from, to) => letters.slice(from, to).join("");
  const quote = node("blockquote");
  quote.append(text(start, figure.start).trimStart(), node("mark", "", text(figure.start, figure.end)), text(figure.end, end).trimEnd());
  made.append(node("p", "label", words.said), quote);
  return made;
}

// What the places say together, plainly.
function verdictNode({ figure, conflict, places }) {
  const made = node("div", `verdict ${conflict ? "conflict" : "calm"}`);
  const agreeing = places.filter((place) => place.agrees);
  const contradicting = places.filter((place) => place.contradicts);
  if (conflict) {
    const tellers = [...agreeing.slice(0, 1), ...contradicting];
    const said = tellers.map((place) => words.valueIn(valueOf(place), shortLabel(place))).join(words.and);
    made.append(node("strong", "", words.conflict), node("p", "", words.conflictText(said)));
  } else {
    made.append(node("strong", "", words.statuses[figure.status] ?? figure.status));
    if (figure.derivation) made.append(node("p", "", words.derived(`${figure.raw} = ${figure.derivation.shown ?? ""}`)));
    else if (agreeing.length) made.append(node("p", "", words.agreeing(agreeing.length)));
    else made.append(node("p", "", !places.length && figure.support?.length ? words.ownOnly : words.nowhere));
  }
  const others = places.length - agreeing.length - contradicting.length;
  if (others) made.append(node("p", "", words.others(others)));
  return made;
}

function valueOf({ value, unit, printed }) {
  const shown = /^-?\d+(\.\d+)?$/.test(value ?? "") ? grouped(value) : (value ?? printed);
  return [shown, unit?.replace("$?", "$")].filter(Boolean).join(" "); // a dollar that nothing says the country of
}

// Thousands parted, and not a digit more or less than there is: a number of JavaScript would round.
function grouped(value) {
  const [whole, fraction] = value.split(".");
  const parted = whole.replace(/\B(?=(\d{3})+(?!\d))/g, ",");
  return fraction ? `${parted}.${fraction}` : parted;
}

function shortLabel({ document: name, page }) {
  return page ? `${name} P${page}` : name;
}

function placesNode({ figure, places, answer }) {
  const made = node("div", "places");
  const shown = places.length ? places : operandsOf(figure, answer);
  if (!shown.length) return made;
  made.append(node("h3", "", words.places));
  const list = node("ol");
  list.append(...shown.map(placeNode));
  made.append(list);
  return made;
}

// A figure that is computed is told nowhere; what it was computed from is. One without a subject rests on its support.
function operandsOf({ derivation, support = [] }, { events = [] }) {
  const sources = events.find(({ event }) => event === "sources")?.data.sources ?? [];
  const names = new Map(sources.map((source) => [source.document_id, source.document]));
  return (derivation?.places ?? support).map((place) => ({
    ...place, value: place.printed, is_support: true, label: [names.get(place.document_id), place.page && `P${place.page}`].filter(Boolean).join(" · "),
  }));
}

function badgeOf(place) {
  if (place.is_support) return "support";
  if (place.contradicts) return "contradicts";
  return place.agrees ? "agrees" : "other";
}

function placeNode(place) {
  const badge = badgeOf(place);
  const made = node("li", `place ${badge}`);
  const head = node("div", "head");
  head.append(node("strong", "value", valueOf(place)), node("span", `badge ${badge}`, words.badges[badge]));
  const facts = [
    place.printed && place.printed.trim() !== valueOf(place) && words.printed(place.printed.trim()),
    place.scale_from && words.scale(place.scale_from),
  ].filter(Boolean);
  made.append(head, node("p", "label", place.label || `P${place.page}`));
  const name = [place.section, placeName(place)].filter(Boolean).join(" › ");
  if (name) made.append(node("p", "name", name));
  made.append(pictureNode(place));
  if (facts.length) made.append(node("p", "facts", facts.join(" · ")));
  return made;
}

// The row or the paragraph around the figure, its own words tinted; it opens the page beside the answer.
function pictureNode(place) {
  const address = withSurroundings(place.region_url);
  if (!address) return node("p", "quiet", words.noPicture);
  const made = node("button", "place-crop");
  made.type = "button";
  const image = node("img");
  const marks = isBox(place.bbox) ? `&marks=${place.bbox.join(",")}` : "";
  Object.assign(image, { alt: words.picture(valueOf(place), place.label ?? ""), loading: "lazy", decoding: "async" });
  image.addEventListener("error", () => made.replaceWith(node("p", "quiet", words.pictureGone)));
  const frame = node("span", "place-frame");
  frame.append(image);
  image.addEventListener("load", () => scrollTo(frame, image, place));
  image.src = `${address}&margin=6&dpi=${CROP_DPI}${marks}`;
  made.append(frame, node("span", "open", words.open));
  made.addEventListener("click", () => showTarget(placeTarget(place, { raw: valueOf(place) })));
  return made;
}

// A cell or a word alone says little: at least so much of the page is shown around its middle. Empty where the address
// is not one of the service's own pictures.
function withSurroundings(address) {
  if (!REGION.test(address ?? "")) return "";
  const url = new URL(address, location.href);
  const [x0, y0, x1, y1] = (url.searchParams.get("bbox") ?? "").split(",").map(Number);
  if (!isBox([x0, y0, x1, y1])) return "";
  const x = Math.max(0, LEAST.width - (x1 - x0)) / 2, y = Math.max(0, LEAST.height - (y1 - y0)) / 2;
  return `${url.pathname}?bbox=${[Math.max(0, x0 - x), Math.max(0, y0 - y), x1 + x, y1 + y].map((value) => Math.round(100 * value) / 100)}`;
}

// On a narrow screen a row is wider than its frame: the figure is what must be seen.
function scrollTo(frame, image, { bbox, region_url: url }) {
  const [left, , right] = (new URL(withSurroundings(url), location.href).searchParams.get("bbox") ?? "").split(",").map(Number);
  if (!isBox(bbox) || !(right > left)) return;
  const middle = (((bbox[0] + bbox[2]) / 2 - left) / (right - left)) * image.clientWidth;
  frame.scrollLeft = middle - frame.clientWidth / 2;
}

function decisionNode(told) {
  const made = node("form", "decision");
  const title = node("h3", "", words.decide);
  const standing = node("p", "standing");
  standing.setAttribute("role", "status");
  made.append(title, standing);
  showStanding(standing, told.decision);
  if (!told.writes) {
    made.append(node("p", "quiet", words.readOnly));
    return made;
  }
  const note = node("textarea");
  Object.assign(note, { rows: 2, maxLength: 4000, value: told.decision?.note ?? "", placeholder: words.noteHint, id: "decision-note" });
  const label = node("label", "", words.note);
  label.htmlFor = note.id;
  const buttons = new Map(["accept", "reject", "note"].map((kind) => [kind, node("button", kind, words[kind === "note" ? "saveNote" : kind])]));
  const row = node("div", "actions");
  row.append(...buttons.values());
  made.append(label, note, row);
  const form = { told, note, buttons, standing };
  for (const [kind, button] of buttons) {
    button.type = "button";
    button.addEventListener("click", () => decide(form, kind));
  }
  press(form);
  return made;
}

function press({ told, buttons }) {
  for (const [kind, button] of buttons) {
    if (kind !== "note") button.setAttribute("aria-pressed", told.decision?.decision === kind);
  }
}

// A note that is saved on its own leaves an accepted figure accepted.
async function decide(form, kind) {
  const { told, note, buttons, standing } = form;
  const before = told.decision?.decision;
  const decision = kind === "note" && before ? before : kind;
  if (decision === "note" && !note.value.trim()) {
    standing.textContent = words.noteNeeded;
    note.focus();
    return;
  }
  for (const button of buttons.values()) button.disabled = true;
  try {
    const value = { decision, note: note.value.trim() };
    told.decision = await (await sendJson("PUT", `/v1/answers/${told.answerId}/figures/${told.n}/decision`, value)).json();
    showStanding(standing, told.decision);
    press(form);
  } catch (error) {
    standing.textContent = words.saveFailed(error.message);
  }
  for (const button of buttons.values()) button.disabled = false;
  buttons.get(kind).focus();
}

function showStanding(standing, decision) {
  standing.className = `standing ${decision?.decision ?? ""}`;
  if (!decision) {
    standing.textContent = words.undecided;
    return;
  }
  const when = decision.decided ? new Date(decision.decided * 1000).toLocaleString(words.locale, { dateStyle: "medium", timeStyle: "short" }) : "";
  const line = node("strong", "", words.decided(words.kinds[decision.decision] ?? decision.decision, when, decision.by));
  standing.replaceChildren(line, ...(decision.note ? [node("span", "note", decision.note)] : []));
}

function recordNode({ answerId }) {
  const made = node("div", "record");
  made.append(node("h3", "", words.record));
  for (const [of, query] of [[words.ofAnswer, `?answer=${answerId}`], [words.ofAll, ""]]) {
    const line = node("p", "", `${of}: `);
    for (const kind of ["csv", "jsonl"]) {
      const link = node("a", "", words[kind]);
      Object.assign(link, { href: `/v1/decisions.${kind}${query}`, download: "" });
      link.setAttribute("aria-label", `${words.record}: ${of}, ${words[kind]}`);
      line.append(link, " ");
    }
    made.append(line);
  }
  return made;
}
