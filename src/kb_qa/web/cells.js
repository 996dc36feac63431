// The cells of a table that a place lies in, and the header cells that say what they are. Pure: elements in, cells out.

const NOTHING = { cells: [], rowHeaders: [], columnHeaders: [] };

// `elements` are those of the place's page, as the service lists them. A cell says its page itself: where a table runs
// over several, its headers may be on another one.
export function litCells(elements, place) {
  const tables = elements.filter((element) => element.table?.cells?.length);
  const named = tables.filter((element) => place.element && element.id === place.element);
  for (const { table } of named.length ? named : tables) {
    const cells = cellsAt(table.cells, place);
    if (cells.length) return { cells, ...headersOf(table.cells, cells) };
  }
  return NOTHING;
}

// The cell that the place names, else those that hold the middle of one of its rectangles.
export function cellsAt(cells, { page, rects = [], cell = null }) {
  const here = cells.filter((each) => each.page === page && each.bbox);
  if (Array.isArray(cell)) {
    const [row, column] = cell;
    const named = here.filter((each) => covers(each.row, each.row_span, row) && covers(each.column, each.column_span, column));
    if (named.length) return named;
  }
  return here.filter(({ bbox }) => rects.some((rect) => holds(bbox, middle(rect))));
}

// Those in header positions, left of the lit cells or above them, whose text the cells name as their headers.
export function headersOf(cells, lit) {
  const rowHeaders = new Set(), columnHeaders = new Set();
  for (const cell of lit) {
    for (const header of cell.row_headers ?? []) add(rowHeaders, rowHeader(cells, cell, header));
    for (const header of cell.column_headers ?? []) add(columnHeaders, columnHeader(cells, cell, header));
  }
  for (const cell of lit) {
    rowHeaders.delete(cell);
    columnHeaders.delete(cell);
  }
  return { rowHeaders: [...rowHeaders], columnHeaders: [...columnHeaders].filter((cell) => !rowHeaders.has(cell)) };
}

// In the same row; a group's name stands in a row of its own above.
function rowHeader(cells, cell, text) {
  const before = cells.filter((each) => each !== cell && each.column <= cell.column && sameText(each, text));
  const beside = before.filter((each) => each.column < cell.column && meet(each.row, each.row_span, cell.row, cell.row_span));
  return beside.at(-1) ?? nearestAbove(before, cell);
}

function columnHeader(cells, cell, text) {
  const column = cells.filter((each) => sameText(each, text) && meet(each.column, each.column_span, cell.column, cell.column_span));
  return nearestAbove(column, cell);
}

function nearestAbove(cells, { row }) {
  const above = cells.filter((each) => each.row + (each.row_span ?? 1) <= row);
  return above.reduce((best, each) => (best && best.row > each.row ? best : each), undefined);
}

function add(found, cell) {
  if (cell?.bbox) found.add(cell);
}

function sameText(cell, text) {
  return plain(cell.text) === plain(text);
}

function plain(text) {
  return String(text ?? "").replace(/\s+/g, " ").trim();
}

function covers(start, span, at) {
  return start <= at && at < start + (span ?? 1);
}

function meet(a, aSpan, b, bSpan) {
  return a < b + (bSpan ?? 1) && b < a + (aSpan ?? 1);
}

function middle([x0, y0, x1, y1]) {
  return [(x0 + x1) / 2, (y0 + y1) / 2];
}

function holds([x0, y0, x1, y1], [x, y]) {
  return x0 <= x && x <= x1 && y0 <= y && y <= y1;
}
