// The scrolling column of a document's pages. Each has its frame, of known size, from the start; pictures come to those
// that are near. Positions on a page are in points, `scale` is CSS pixels a point.

import { boxNodes } from "./marks.js";
import { node } from "./nodes.js";
import { PagePictures } from "./page_pictures.js";
import { words } from "./words_reader.js";

const GAP = 12; // pixels around a page, as in reader.css
const SMALLEST = 0.25, LARGEST = 5;
const CLOSEST = 1.7; // to which a region is enlarged by itself
const AROUND = 24; // points around a region that is zoomed to
const TURNING = 500; // milliseconds that a page may take to turn
const FLYING = 240; // milliseconds between two looks at what to load, while scrolling
const EYE = 0.4; // where in the view's height that which is shown comes to lie

export class PageColumn {
  // `onChange(column)` hears of another current page, and of another scale.
  constructor(scroller, onChange) {
    this.scroller = scroller;
    this.onChange = onChange;
    this.frames = this.marked = [];
    this.documentId = "";
    this.scale = 1;
    this.chosen = false; // whether the reader chose the scale
    this.current = this.aim = 0;
    this.turned = -TURNING;
    this.filled = -FLYING;
    this.at = [0, 0];
    this.sheet = node("div", "column");
    scroller.replaceChildren(this.sheet);
    this.pictures = new PagePictures(this);
    this.close = new Set();
    this.watch = new IntersectionObserver((entries) => this.#noticed(entries), { root: scroller, rootMargin: "100% 0px" });
    scroller.addEventListener("scroll", () => this.#scrolled(), { passive: true });
    new ResizeObserver(() => this.#resized()).observe(scroller);
  }

  // Frames for all pages of a document; nothing where it is shown already.
  open(documentId, pages) {
    if (documentId === this.documentId) return;
    this.clear();
    this.documentId = documentId;
    this.frames = pages.map((page) => this.#frame(page, pages.length));
    this.sheet.replaceChildren(...this.frames.map(({ element }) => element));
    this.#setScale(this.fitting(this.frames[0]));
    for (const { element } of this.frames) this.watch.observe(element);
  }

  clear() {
    this.watch.disconnect();
    for (const frame of this.frames) this.pictures.drop(frame);
    this.close.clear();
    this.frames = this.marked = [];
    this.sheet.replaceChildren();
    Object.assign(this, { documentId: "", current: 0, turned: -TURNING, chosen: false });
  }

  #frame(page, count) {
    const element = node("div", "page");
    const marks = node("div", "page-marks");
    element.setAttribute("role", "group");
    element.setAttribute("aria-label", words.pageOf(page.number, count, page.label));
    element.dataset.page = page.number;
    element.style.setProperty("--width", page.width);
    element.style.setProperty("--height", page.height);
    element.append(marks);
    return { page, element, marks, picture: null, dpi: 0, loading: new Map(), failure: null };
  }

  frameOf(number) {
    const at = this.frames[number - 1];
    return at?.page.number === number ? at : this.frames.find(({ page }) => page.number === number);
  }

  // ---- What is drawn over the pages: {page, kind, box}; before there is any picture, as sizes are known.
  mark(boxes) {
    for (const frame of this.marked) frame.marks.replaceChildren();
    const byPage = grouped(boxes);
    this.marked = [...byPage.keys()].map((number) => this.frameOf(number)).filter(Boolean);
    for (const frame of this.marked) {
      const { width, height, number } = frame.page;
      frame.marks.replaceChildren(...boxNodes(byPage.get(number), [0, 0, width, height]));
    }
  }

  // ---- Scale
  fitting(frame = this.frames[this.current]) {
    return fitting(frame?.page ?? { width: 600 }, this.scroller.clientWidth);
  }

  // By the reader's hand: what is at `at` (in pixels from the view's corner) stays where it is.
  zoom(scale, at = [this.scroller.clientWidth / 2, this.scroller.clientHeight / 2]) {
    this.chosen = true;
    this.#keeping(at, () => this.#setScale(scale));
  }

  fit() {
    this.chosen = false;
    this.#keeping([this.scroller.clientWidth / 2, 0], () => this.#setScale(this.fitting()));
  }

  #setScale(scale) {
    this.scale = bounded(scale);
    this.sheet.style.setProperty("--scale", this.scale);
    this.onChange(this);
  }

  #keeping([x, y], change) {
    const { scroller } = this;
    const frame = this.frames[this.#indexAt(scroller.scrollTop + y)];
    if (!frame) return change();
    const before = frame.element.getBoundingClientRect(), view = scroller.getBoundingClientRect();
    const shareX = (view.left + x - before.left) / before.width, shareY = (view.top + y - before.top) / before.height;
    change();
    const after = frame.element.getBoundingClientRect();
    scroller.scrollLeft += after.left + shareX * after.width - view.left - x;
    scroller.scrollTop += after.top + shareY * after.height - view.top - y;
    this.pictures.fill();
  }

  // What was shown is shown again in the new width; who went elsewhere since stays there.
  #resized() {
    const { clientWidth } = this.scroller;
    if (!this.frames.length || !clientWidth || this.width === clientWidth || this.chosen) return;
    if (this.untouched) this.reveal(...this.last);
    else this.fit();
    this.width = clientWidth;
  }

  // ---- Position
  // Scrolls to a box on a page, or to the top of the page.
  reveal(number, box, { smooth = false } = {}) {
    const frame = this.frameOf(number);
    if (!frame) return;
    const { scroller } = this;
    if (box && !this.chosen) this.#setScale(scaleFor(frame.page, box, scroller.clientWidth));
    const { offsetTop, offsetLeft } = frame.element;
    const [x0, y0, x1, y1] = (box ?? [0, 0, frame.page.width, 0]).map((value) => value * this.scale);
    const tall = y1 - y0 > scroller.clientHeight * (1 - EYE);
    const top = !box ? offsetTop - GAP : offsetTop + (tall ? y0 - 2 * AROUND : (y0 + y1) / 2 - EYE * scroller.clientHeight);
    const left = offsetLeft + (x1 - x0 > scroller.clientWidth ? x0 - AROUND : (x0 + x1) / 2 - scroller.clientWidth / 2);
    scroller.scrollTo({ top, left, behavior: smooth ? "smooth" : "instant" });
    Object.assign(this, { at: [scroller.scrollTop, scroller.scrollLeft], last: [number, box], width: scroller.clientWidth });
    this.#scrolled();
    this.pictures.fill();
  }

  // Whether nobody scrolled since the last `reveal`.
  get untouched() {
    return Math.abs(this.scroller.scrollTop - this.at[0]) < 3 && Math.abs(this.scroller.scrollLeft - this.at[1]) < 3;
  }

  turn(step, options) {
    // While the last turning is still under way, from where it goes.
    const from = performance.now() - this.turned < TURNING ? this.aim : this.current;
    const to = Math.min(Math.max(from + step, 0), this.frames.length - 1);
    Object.assign(this, { turned: performance.now(), aim: to });
    this.reveal(this.frames[to]?.page.number, null, options);
  }

  #scrolled() {
    const current = this.#indexAt(this.scroller.scrollTop + EYE * this.scroller.clientHeight);
    if (current !== this.current) {
      this.current = current;
      this.onChange(this);
    }
    this.#fillSoon();
  }

  // While pages fly by, now and then; when they rest, at once.
  #fillSoon() {
    clearTimeout(this.filling);
    const wait = performance.now() - this.filled > FLYING ? 0 : FLYING / 4;
    this.filling = setTimeout(() => {
      this.filled = performance.now();
      this.pictures.fill();
    }, wait);
  }

  #indexAt(y) {
    let low = 0, high = this.frames.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (this.frames[middle].element.offsetTop - GAP <= y) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  // ---- For the pictures: what is near, nearest first; what has one, nearest first
  #noticed(entries) {
    for (const { target, isIntersecting } of entries) {
      const frame = this.frameOf(Number(target.dataset.page));
      if (frame?.element !== target) continue; // of a document that was shown before
      if (isIntersecting) {
        this.close.add(frame);
        this.pictures.tryAgain(frame);
      } else if (this.close.delete(frame)) {
        this.pictures.cancel(frame);
      }
    }
    this.#fillSoon();
  }

  near() {
    // The observer speaks a frame later: what is in view now counts at once.
    const visible = this.frames.slice(Math.max(this.current - 1, 0), this.current + 2).filter((each) => this.isVisible(each));
    return this.#nearestFirst(new Set([...visible, ...this.close]));
  }

  drawn() {
    return this.#nearestFirst(this.frames.filter(({ picture }) => picture));
  }

  #nearestFirst(frames) {
    const middle = this.scroller.scrollTop + EYE * this.scroller.clientHeight;
    const distance = ({ element }) => Math.max(element.offsetTop - middle, middle - element.offsetTop - element.offsetHeight, 0);
    return [...frames].map((frame) => [distance(frame), frame]).sort(([a], [b]) => a - b).map(([, frame]) => frame);
  }

  isVisible({ element }) {
    const top = this.scroller.scrollTop;
    return element.offsetTop < top + this.scroller.clientHeight && element.offsetTop + element.offsetHeight > top;
  }
}

// At which a box of a page fills this width: never smaller than its page does.
export function scaleFor(page, box, width) {
  const filling = (width - 2 * GAP) / (box[2] - box[0] + 2 * AROUND);
  return Math.max(fitting(page, width), Math.min(filling, CLOSEST));
}

function fitting(page, width) {
  return bounded((width - 2 * GAP) / page.width);
}

function bounded(scale) {
  return Math.min(Math.max(scale, SMALLEST), LARGEST);
}

function grouped(boxes) {
  const byPage = new Map();
  for (const each of boxes) byPage.set(each.page, [...(byPage.get(each.page) ?? []), each]);
  return byPage;
}
