// The panel around the pages: what the spot is, the ways through its places and pages, and the ways out.

import { node } from "./nodes.js";
import { words } from "./words_reader.js";

const ZOOM = 1.25;

function button(className, text, label, act) {
  const made = node("button", className, text);
  made.type = "button";
  if (label) {
    made.setAttribute("aria-label", label);
    made.title = label;
  }
  made.addEventListener("click", act);
  return made;
}

function anchor(text) {
  return node("a", "", text);
}

// Builds it once, in `root`. `act` has close(), step(±1), turn(±1), end(last), zoom(factor, at), fit().
export function makePanel(root, act) {
  const title = node("h2", "reader-title"), quote = node("blockquote", "reader-quote"), note = node("p", "reader-note");
  const formula = node("p", "reader-formula"), operands = node("div", "reader-operands"), problem = node("p", "reader-problem");
  const steps = node("div", "reader-steps"), step = node("span"), pageOf = node("span", "reader-page"), percent = node("span", "reader-percent");
  const scroller = node("div", "reader-pages"), bar = node("div", "reader-bar"), links = node("p", "links");
  const whole = anchor(words.wholePage), original = anchor(words.original);

  const head = node("div", "reader-head");
  title.id = "reader-title";
  title.tabIndex = -1;
  head.append(title, button("reader-close", "×", words.close, act.close));
  steps.append(button("", "‹", words.previousPlace, () => act.step(-1)), step, button("", "›", words.nextPlace, () => act.step(1)));
  step.setAttribute("role", "status");
  operands.setAttribute("role", "group");
  operands.setAttribute("aria-label", words.operands);
  const turning = node("span", "reader-turning"), zooming = node("span", "reader-zooming");
  turning.append(button("", "‹", words.previousPage, () => act.turn(-1)), pageOf, button("", "›", words.nextPage, () => act.turn(1)));
  zooming.append(
    button("", "−", words.zoomOut, () => act.zoom(1 / ZOOM)), percent, button("", "+", words.zoomIn, () => act.zoom(ZOOM)),
    button("reader-fit", words.fit, "", act.fit),
  );
  bar.append(turning, zooming);
  scroller.tabIndex = 0;
  scroller.setAttribute("role", "group");
  scroller.setAttribute("aria-label", words.pages);
  problem.setAttribute("role", "status");
  Object.assign(whole, { target: "_blank", rel: "noopener noreferrer" });
  original.setAttribute("download", "");
  links.append(whole, original);
  const about = node("div", "reader-about");
  about.append(quote, note, formula, operands, steps, problem);
  root.setAttribute("aria-labelledby", "reader-title");
  root.replaceChildren(head, about, bar, scroller, links);
  root.addEventListener("keydown", (event) => pressed(event, act, scroller));
  zoomByHand(scroller, act);

  return {
    scroller,
    focus: () => (scroller.hidden ? title : scroller).focus({ preventScroll: true }),
    busy: (is) => root.setAttribute("aria-busy", String(is)),

    // What the target says of itself; each operand of a computed figure leads to its own place.
    describe(target, { onOperand }) {
      write(formula, target.formula);
      const made = target.operands.map((operand) => operandNode(operand, () => onOperand(operand)));
      operands.replaceChildren(...made);
      operands.hidden = made.length === 0;
      this.operands = new Map(target.operands.map((operand, index) => [operand, made[index]]));
    },

    showSpot(spot, at) {
      const place = spot.places[at];
      title.textContent = spot.label || words.noLabel;
      write(quote, spot.label.includes(spot.quote) ? "" : spot.quote);
      write(note, spot.note);
      steps.hidden = spot.places.length < 2;
      step.textContent = [words.placeOf(at + 1, spot.places.length), place?.name].filter(Boolean).join(" · ");
      // The formula's own target is its first operand until another is chosen.
      const pressed = this.operands.has(spot) ? spot : this.operands.keys().next().value;
      for (const [operand, made] of this.operands) made.setAttribute("aria-pressed", String(operand === pressed));
    },

    showProblem(text) {
      write(problem, text);
      bar.hidden = scroller.hidden = Boolean(text);
      root.classList.toggle("without-pages", Boolean(text));
    },

    showPage(page, count, scale, fitting) {
      pageOf.textContent = words.pageOf(page.number, count, page.label);
      percent.textContent = `${Math.round((100 * scale) / fitting)} %`;
    },

    link(page, file) {
      for (const [to, url] of [[whole, page], [original, file]]) {
        to.hidden = !url;
        if (url) to.href = url;
      }
    },
  };
}

function write(element, text) {
  element.textContent = text;
  element.hidden = !text;
}

function operandNode(operand, act) {
  const made = button("operand", operand.quote, "", act);
  made.append(" ", node("small", "", operand.label));
  return made;
}

// Arrows that would scroll a page wider than the view are left to the browser, as are those up and down.
function pressed(event, act, scroller) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const wide = scroller.scrollWidth > scroller.clientWidth + 1;
  const acts = {
    PageUp: () => act.turn(-1), PageDown: () => act.turn(1), Home: () => act.end(false), End: () => act.end(true),
    ArrowLeft: wide ? null : () => act.turn(-1), ArrowRight: wide ? null : () => act.turn(1),
    "+": () => act.zoom(ZOOM), "=": () => act.zoom(ZOOM), "-": () => act.zoom(1 / ZOOM), 0: () => act.fit(),
  };
  if (scroller.hidden || !acts[event.key]) return;
  event.preventDefault();
  acts[event.key]();
}

// With ctrl and the wheel, which is also what a touchpad's pinch says; and with two fingers.
function zoomByHand(scroller, act) {
  const from = (x, y) => {
    const { left, top } = scroller.getBoundingClientRect();
    return [x - left, y - top];
  };
  scroller.addEventListener("wheel", (event) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    act.zoom(Math.exp(-Math.max(-50, Math.min(50, event.deltaY)) / 150), from(event.clientX, event.clientY));
  }, { passive: false });

  let apart = 0;
  const distance = ([a, b]) => Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
  scroller.addEventListener("touchstart", ({ touches }) => { apart = touches.length === 2 ? distance(touches) : 0; }, { passive: true });
  scroller.addEventListener("touchmove", (event) => {
    if (!apart || event.touches.length !== 2) return;
    event.preventDefault();
    const [a, b] = event.touches, now = distance(event.touches);
    act.zoom(now / apart, from((a.clientX + b.clientX) / 2, (a.clientY + b.clientY) / 2));
    apart = now;
  }, { passive: false });
}
