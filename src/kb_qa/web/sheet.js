// A narrow screen has no room beside the answer: there the reader covers it, as a dialog, with all else out of reach.

const narrow = matchMedia("(max-width: 999px)");
let covered = [];

export function isNarrow() {
  return narrow.matches;
}

// Makes `panel` a sheet over everything, or a region beside it, and keeps it so as the window changes.
export function arrange(panel) {
  release();
  const covers = !panel.hidden && narrow.matches;
  panel.setAttribute("role", covers ? "dialog" : "region");
  if (covers) panel.setAttribute("aria-modal", "true");
  else panel.removeAttribute("aria-modal");
  document.documentElement.classList.toggle("covered", covers);
  if (!covers) return;
  for (let at = panel; at !== document.body; at = at.parentElement) {
    covered.push(...[...at.parentElement.children].filter((other) => other !== at && !other.inert));
  }
  for (const other of covered) other.inert = true;
}

function release() {
  for (const other of covered) other.inert = false;
  covered = [];
}

export function onWidthChange(call) {
  narrow.addEventListener("change", call);
}
