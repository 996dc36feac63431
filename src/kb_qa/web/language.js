// The language of the interface: the reader's choice, else the browser's.

const KEPT = "kb-qa-language";

function chosen() {
  try {
    return localStorage.getItem(KEPT);
  } catch {
    return null; // the browser stores nothing for this page
  }
}

const preferred = navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en";

export const language = ["en", "zh"].includes(chosen()) ? chosen() : preferred;

// A table {en: {...}, zh: {...}} → its words in the language of the interface.
export function inLanguage(table) {
  return table[language];
}

export function switchLanguage() {
  try {
    localStorage.setItem(KEPT, language === "en" ? "zh" : "en");
  } catch { /* as above: the browser's language stays */ }
  location.reload(); // what is shown has an address, so it comes again, in the other language
}
