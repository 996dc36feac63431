// The pictures of a column of pages: few at a time, the nearest first, each coarse and then sharp, far ones let go.

import { FIRST_DPI, pagePicture, sharpDpi } from "./book.js";
import { node } from "./nodes.js";
import { words } from "./words_reader.js";

const MOST_LOADING = 2;
const MOST_PICTURES = 10;
const MOST_NEIGHBOURS = 2; // pages out of sight that are loaded ahead
const MOST_PIXELS = 48e6; // of all pictures together, about 200 MB

export class PagePictures {
  // `column` gives {documentId, scale, near(): frames in order of their distance, isVisible(frame)}; a frame is
  // {page, element, picture, dpi, loading, failure}.
  constructor(column) {
    this.column = column;
    this.loading = 0;
  }

  // Loads what is wanted now. Called whenever that may have changed.
  fill() {
    while (this.loading < MOST_LOADING) {
      const next = this.#next();
      if (!next) return;
      this.#load(...next);
    }
  }

  #next() {
    const near = this.column.near();
    const visible = near.filter((frame) => this.column.isVisible(frame));
    return this.#wanted(visible) ?? this.#wanted(this.#neighbours(near.slice(visible.length), visible.length));
  }

  // The first of these that lacks a picture, or a sharp one, with the resolution of what it lacks.
  #wanted(frames) {
    for (const frame of frames) {
      const sharp = sharpDpi(frame.page, this.column.scale);
      if (!frame.dpi && sharp > FIRST_DPI && wants(frame, FIRST_DPI)) return [frame, FIRST_DPI];
      if (wants(frame, sharp)) return [frame, sharp];
    }
    return undefined;
  }

  // Out of sight: a few, and only what would not be let go of again.
  #neighbours(frames, visible) {
    if (pixelsOf(this.column.drawn()) > MOST_PIXELS / 2) return [];
    const few = frames.slice(0, Math.max(Math.min(MOST_NEIGHBOURS, MOST_PICTURES - visible), 0));
    return few.filter(({ page }) => pixelsAt(page, sharpDpi(page, this.column.scale)) < MOST_PIXELS / 10);
  }

  async #load(frame, dpi) {
    const image = new Image();
    const job = { image, over: false };
    frame.loading.set(dpi, job);
    this.loading += 1;
    image.alt = "";
    image.decoding = "async";
    image.src = pagePicture(this.column.documentId, frame.page.number, dpi);
    try {
      await image.decode();
      if (!job.over) this.#swapIn(frame, image, dpi);
    } catch {
      if (!job.over) this.#failed(frame);
    }
    this.#finish(frame, dpi, job);
  }

  #finish(frame, dpi, job) {
    if (job.over) return;
    job.over = true;
    this.loading -= 1;
    if (frame.loading.get(dpi) === job) frame.loading.delete(dpi);
    this.fill();
  }

  #swapIn(frame, image, dpi) {
    if (dpi <= frame.dpi) return;
    frame.picture?.remove();
    frame.element.prepend(image);
    Object.assign(frame, { picture: image, dpi });
    this.tryAgain(frame);
    this.#letGoOfFarOnes();
  }

  #failed(frame) {
    if (frame.failure) return;
    frame.failure = node("p", "page-missing", words.noPicture);
    if (!frame.picture) frame.element.append(frame.failure);
  }

  // A page that could not be drawn is tried again when the reader comes back to it.
  tryAgain(frame) {
    frame.failure?.remove();
    frame.failure = null;
  }

  // No longer near: what is still on its way to it is not waited for.
  cancel(frame) {
    for (const [dpi, job] of [...frame.loading]) {
      this.#finish(frame, dpi, job);
      job.image.removeAttribute("src");
    }
  }

  drop(frame) {
    this.cancel(frame);
    frame.picture?.removeAttribute("src");
    frame.picture?.remove();
    Object.assign(frame, { picture: null, dpi: 0 });
  }

  #letGoOfFarOnes() {
    const drawn = this.column.drawn();
    for (let count = drawn.length; count > 1; count -= 1) {
      if (count <= MOST_PICTURES && pixelsOf(drawn.slice(0, count)) <= MOST_PIXELS) return;
      if (!this.column.isVisible(drawn[count - 1])) this.drop(drawn[count - 1]);
    }
  }
}

function pixelsOf(frames) {
  return frames.reduce((sum, { picture }) => sum + picture.naturalWidth * picture.naturalHeight, 0);
}

function pixelsAt({ width, height }, dpi) {
  return (width * height * dpi * dpi) / (72 * 72);
}

function wants(frame, dpi) {
  return !frame.failure && frame.dpi < dpi && !frame.loading.has(dpi);
}
