// What leads to a spot: pointing at it shows the crop, a click or Enter opens the page; j and k go through the citations.

import { previewOn } from "./preview.js";
import { showTarget } from "./reader.js";

let shownKey = "";
let stepping = false;

// `target()` is where the button leads, `faint()` what else of the document is shown with it. The key stays the same
// when the answer is drawn anew.
export function leadsTo(button, key, target, faint = () => []) {
  button.type = "button";
  button.dataset.key = key;
  button.classList.toggle("shown", key === shownKey);
  previewOn(button, target);
  button.addEventListener("click", ({ detail }) => {
    shownKey = key;
    for (const each of document.querySelectorAll("[data-key]")) each.classList.toggle("shown", each.dataset.key === key);
    // Enter leads into the page, for its keys; a pointer needs none, and j and k go on where they are.
    showTarget(target(), { faint: faint(), focus: detail === 0 && !stepping });
  });
  return button;
}

export function forgetShown() {
  shownKey = "";
}

const STEPS = { j: 1, k: -1 };

function step(by) {
  const chips = [...document.querySelectorAll("#answer .chip")];
  const at = chips.findIndex((chip) => chip.dataset.key === shownKey);
  const next = chips[at < 0 ? (by > 0 ? 0 : chips.length - 1) : Math.min(Math.max(at + by, 0), chips.length - 1)];
  if (!next) return;
  next.scrollIntoView({ block: "nearest" });
  stepping = true;
  next.click();
  stepping = false;
}

function isTyping({ target }) {
  return target.closest?.("input, textarea, select, [contenteditable]") !== null;
}

// `/` leads to the question, from anywhere on the page. Called once.
export function listenToKeys(question) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || isTyping(event)) return;
    if (event.key === "/" && question.checkVisibility()) question.focus();
    else if (STEPS[event.key]) step(STEPS[event.key]);
    else return;
    event.preventDefault();
  });
}
