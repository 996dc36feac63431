// Finds and makes the page's nodes; text goes in as text.

export const $ = (id) => document.getElementById(id);

export function node(tag, className, text) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}
