// What leads to a spot, as the reader takes it. A target is
//   {documentId, label, quote, note, formula, places: [{page, bbox, rects, element, cell}], operands: [target]}
// in points from the top left of the page as displayed; `rects` are what is marked, the bbox where there are none.

const DOCUMENT_ID = /^[0-9a-f]{64}$/;

function target({ documentId, label = "", quote = "", note = "", formula = "", places = [], operands = [] }) {
  const known = DOCUMENT_ID.test(documentId ?? "");
  return {
    documentId: known ? documentId : "", label: String(label ?? ""), quote: String(quote ?? ""), note: String(note ?? ""),
    formula: String(formula ?? ""), places: known ? places.filter(isPlace).map(place) : [], operands,
  };
}

export function isBox(box) {
  return Array.isArray(box) && box.length === 4 && box.every(Number.isFinite);
}

function isPlace(value) {
  return Number.isInteger(value?.page) && value.page > 0;
}

function place({ page, bbox, rects, element, element_id: elementId, cell }) {
  const box = isBox(bbox) ? bbox : null;
  const lines = (rects ?? []).filter(isBox);
  return { page, bbox: box, rects: lines.length ? lines : box ? [box] : [], element: element ?? elementId ?? "", cell: cell ?? null };
}

export function citationTarget(citation) {
  const places = (citation.regions ?? []).map((region) => ({ element: citation.element_id, ...region }));
  return target({ documentId: citation.document_id, label: citation.label, quote: citation.cited_text, places });
}

export function sourceTarget(source) {
  return target({ documentId: source.document_id, label: source.label, quote: source.text, places: source.regions ?? [] });
}

// A printed figure; a computed one with its formula and operands; one without support, why, and what fits it better.
export function figureTarget(figure) {
  const { derivation, reason } = figure;
  if (derivation) {
    const operands = (derivation.places ?? []).map((each) => placeTarget(each));
    const formula = `${figure.raw} = ${String(derivation.shown ?? "").split("; ")[0]}`;
    return { ...(operands[0] ?? target({})), label: `ƒ ${figure.raw}`, quote: "", formula, operands };
  }
  const supported = Boolean(figure.support?.length);
  const places = supported ? figure.support : (reason?.nearest ?? []);
  return placeTarget(places[0] ?? {}, { raw: figure.raw, note: supported ? "" : reason?.detail });
}

// One place of a figure: of its support, of an operand, of a dispute.
export function placeTarget(where, { raw = "", note = "" } = {}) {
  const label = [raw, where.row && placeName(where), where.page && `P${where.page}`].filter(Boolean).join(" · ");
  return target({ documentId: where.document_id, label, quote: String(where.printed ?? "").trim(), note, places: [where] });
}

export function placeName(where) {
  return [where.row, where.col ?? where.column].filter(Boolean).join(" × ");
}
