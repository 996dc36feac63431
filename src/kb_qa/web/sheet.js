// A narrow screen has no room beside the answer: there the reader covers it, as a dialog, with all else out of reach.

const narrow = matchMedia("(max-width: 999px)");
let covered = [];

export function isNarrow() {
  return narrow.matches;
}

// Makes `panel` a sheet over everything, or a region beside it, and keeps it so as the window changes.
export function arrange(panel) {
  release();
  const open = !panel.hidden;
  panel.setAttribute("role", open && narrow.matches ? "dialog" : "region");
  panel.toggleAttribute("aria-modal", open && narrow.matches);
  if (open && narrow.matches) panel.setAttribute("aria-modal", "true");
  document.documentElement.classList.toggle("covered", open && narrow.matches);
  if (!open || !narrow.matches) return;
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
