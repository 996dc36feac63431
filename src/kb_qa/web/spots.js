// What leads to a spot, as the reader takes it. A target is
//   {documentId, label, quote, note, formula, places: [{page, bbox, rects, element, cell, name}], operands: [target]}
// in points from the top left of the page as displayed; `rects` are what is marked, the bbox where there are none; `name`
// says row and column. All places are of the one document.

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

function place(where) {
  const { page, bbox, rects, element, element_id: elementId, cell } = where;
  const box = isBox(bbox) ? bbox : null;
  const lines = Array.isArray(rects) ? rects.filter(isBox) : [];
  const marked = lines.length ? lines : box ? [box] : [];
  return { page, bbox: box, rects: marked, element: element ?? elementId ?? "", cell: isCell(cell) ? cell : null, name: placeName(where) };
}

function isCell(cell) {
  return Array.isArray(cell) && cell.length === 2 && cell.every(Number.isInteger);
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
  const [first = {}, ...more] = supported ? figure.support : (reason?.nearest ?? []);
  // Where it is printed several times in that document, all the places.
  const also = supported ? more.filter((where) => where.document_id === first.document_id) : [];
  return placeTarget(first, { raw: figure.raw, note: supported ? "" : reason?.detail, also });
}

// One place of a figure: of its support, of an operand, of a dispute.
export function placeTarget(where, { raw = "", note = "", also = [] } = {}) {
  const label = [raw, where.row && placeName(where), where.page && `P${where.page}`].filter(Boolean).join(" · ");
  return target({ documentId: where.document_id, label, quote: String(where.printed ?? "").trim(), note, places: [where, ...also] });
}

export function placeName(where) {
  return [where.row, where.col ?? where.column].filter(Boolean).join(" × ");
}
