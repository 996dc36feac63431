// Questions that the documents answer, for readers who do not know where to begin.

import { $, node } from "./nodes.js";
import { getJson } from "./requests.js";

// `ask(question)` asks one. Without any, nothing is shown.
export async function showExamples(ask) {
  const { examples } = await getJson("/v1/examples").catch(() => ({ examples: [] }));
  $("examples-list").replaceChildren(...examples.map(({ question, document: name }) => {
    const made = node("button", "", String(question));
    made.type = "button";
    made.title = String(name);
    made.addEventListener("click", () => ask(question));
    return made;
  }));
  $("examples").hidden = examples.length === 0;
}
