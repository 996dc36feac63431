// An answer: what its events add up to. The same for one that is being written and for one that was stored.

export function emptyAnswer(question = "") {
  return {
    id: "", question, policy: "strict", standalone: "", carried: [], session: "", position: 0, lastEvent: 0,
    // Spans count characters (code points), JavaScript's strings count UTF-16 units: hence the array.
    letters: [], citations: [], figures: [], uncited: [], sources: [], withheld: [], references: "",
    refusal: null, end: null, error: null,
  };
}

const ANSWER_ID = /^[0-9a-f]{32}$/;

const TAKEN = {
  queued: (answer, data) => { answer.position = Number(data.position) || 0; },
  start: (answer, data) => {
    answer.position = 0;
    answer.id = ANSWER_ID.test(data.answer_id) ? data.answer_id : "";
    answer.question = String(data.question ?? answer.question);
    answer.policy = String(data.policy ?? "strict");
    answer.session = typeof data.session_id === "string" ? data.session_id : "";
    answer.standalone = String(data.standalone ?? "");
    answer.carried = [...list(data.carried_documents), ...Object.values(data.carried_filters ?? {}).flat()].map(String);
  },
  sources: (answer, data) => { answer.sources = list(data.sources); },
  delta: (answer, data) => { answer.letters.push(...Array.from(String(data.text ?? ""))); },
  citation: (answer, data) => { answer.citations.push(data); },
  // A figure's number is the ordinal of its event: its dispute and its decision are found by it.
  figure: (answer, data) => { answer.figures.push({ ...data, n: answer.figures.length + 1 }); },
  uncited: (answer, data) => { answer.uncited.push(data); },
  withheld: (answer, data) => { answer.withheld.push({ at: answer.letters.length, ...data }); },
  refusal: (answer, data) => { answer.refusal = data; },
  references: (answer, data) => { answer.references = String(data.text ?? ""); },
  end: (answer, data) => { answer.end = data; },
  error: (answer, data) => { answer.error = data; },
};

// Adds one event; those of a later version are passed over.
export function take(answer, name, data, id = 0) {
  if (Object.hasOwn(TAKEN, name)) TAKEN[name](answer, data);
  answer.lastEvent = Math.max(answer.lastEvent, id);
}

// Whether the service has said all that it has to say.
export function isClosed(answer) {
  return answer.end !== null || answer.error !== null;
}

export function list(value) {
  return Array.isArray(value) ? value : [];
}

const SUPPORTED = new Set([
  "exact", "rounded", "converted", "counted", "derived", "corrected", "question_echo", "exempt",
]);
const SILENT = new Set(["question_echo", "exempt"]);

// What a figure wears: "" nothing, "printed", "derived", "conflict", "unsure" (read by OCR), or "unsupported".
export function verdictOf(figure, policy) {
  const { status, derivation, annotations } = figure;
  if (status === "conflict" || list(annotations).includes("conflict")) return "conflict";
  if (!SUPPORTED.has(status)) {
    if (policy === "off") return "";
    return status === "low_confidence" ? "unsure" : "unsupported";
  }
  if (derivation) return "derived";
  return !SILENT.has(status) && list(figure.support).some((place) => place?.page) ? "printed" : "";
}

// The text alone, with its markers and what stands in place of withheld sentences, and the references below it.
export function plainText(answer) {
  let text = "", at = 0;
  for (const { at: where, text: instead } of answer.withheld) {
    text += answer.letters.slice(at, where).join("") + String(instead ?? "");
    at = where;
  }
  text += answer.letters.slice(at).join("");
  const refused = answer.refusal ? String(answer.refusal.message ?? "") : "";
  return [answer.question, text, refused, answer.references].map((part) => part.trim()).filter(Boolean).join("\n\n");
}
