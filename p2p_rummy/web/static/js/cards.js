// Card faces, drawn here. A card is a text as in the rules: "6H", "TSb" (second pack), "X1".
// Each face is one <symbol>, made when first needed, and coloured by CSS variables, so that two or four colours,
// dark or light, are a matter of style.css.

import { t } from "./i18n.js";
import { create, h } from "./dom.js";

export const RANKS = "A23456789TJQK";
export const SUITS = "SHDC";

/** "6Hb" -> {rank: "6", suit: "H", joker: false}; "X1" -> {rank: "X", suit: "", joker: true}. */
export function parts(card) {
  return card[0] === "X" ? { rank: "X", suit: "", joker: true } : { rank: card[0], suit: card[1] || "", joker: false };
}

/** The card in words, for screen readers and tooltips. */
export function cardWords(card, as = "") {
  if (!card) return t("card.hidden");
  const { rank, suit, joker } = parts(card);
  if (joker) return as ? t("card.joker_as", { card: placeWords(as) }) : t("card.joker");
  return t("card.name", { rank: t(`rank.${rank}`), suit: t(`suit.${suit}`) });
}

/** What a joker stands for: "8H" is a card, "9" (in a group) only a rank. */
export function placeWords(as) {
  return as.length === 1 ? t(`rank.${as}`) : cardWords(as);
}

/** The card in signs, for short lines: 6♥, 10♠, ★. */
export function cardSigns(card, as = "") {
  const { rank, suit, joker } = parts(card);
  if (joker) return as ? `★=${cardSigns(as)}` : "★";
  return `${rank === "T" ? "10" : rank}${suit ? { S: "♠", H: "♥", D: "♦", C: "♣" }[suit] : ""}`;
}

// --- glyphs: rounded strokes on a grid 40 wide, 60 high -------------------------------------------------

const GLYPHS = {
  A: "M4 56 20 4 36 56M10.5 38H29.5",
  2: "M6 18C6 9 12 4 20 4S34 9 34 18C34 28 24 35 6 56H36",
  3: "M6 4H34L19 24C29 24 36 31 36 40S29 56 19 56C12 56 7 53 4 47",
  4: "M28 56V4L4 42H38",
  5: "M33 4H11L8 28C12 25 16 24 20 24 29 24 36 30 36 40S29 56 19 56C12 56 7 53 4 47",
  6: "M31 4C17 9 5 22 5 39 5 49 11 56 20 56S36 49 36 40 29 24 21 24C13 24 5 30 5 39",
  7: "M4 4H36L15 56",
  8: "M20 28C12 28 7 23 7 16S12 4 20 4 33 9 33 16 28 28 20 28C10 28 4 34 4 42S11 56 20 56 36 50 36 42 30 28 20 28",
  9: "M9 56C23 51 35 38 35 21 35 11 29 4 20 4S4 11 4 20 11 36 19 36C27 36 35 30 35 21",
  T: "M2 13 9 4V56M29 4C21 4 18 14 18 30S21 56 29 56 40 46 40 30 37 4 29 4",
  J: "M30 4V40C30 50 25 56 17 56 9 56 4 50 4 43",
  Q: "M20 4C9 4 4 14 4 30S9 56 20 56 36 46 36 30 31 4 20 4M24 42 38 60",
  K: "M6 4V56M36 4 7 37M17 26 37 56",
  S: "M33 12C30 6 26 4 20 4 12 4 7 9 7 16 7 24 13 27 20 30S34 36 34 44 28 56 20 56C13 56 8 53 5 47",
  H: "M6 4V56M34 4V56M6 30H34",
  D: "M6 4V56H15C29 56 36 46 36 30S29 4 15 4Z",
  C: "M35 13C32 7 27 4 20 4 9 4 4 14 4 30S9 56 20 56C27 56 32 53 35 47",
  X: "M20 3 25 22 39 30 25 38 20 57 15 38 1 30 15 22Z",
};

// Suit signs on a grid 32 by 32.
const SIGNS = {
  S: "M16 1.5C22 9 29.5 13 29.5 19.7 29.5 23.6 26.6 26.2 23.2 26.2 20.8 26.2 18.8 25 17.6 23 17.8 26.4 19 28.8 21.4 30.5H10.6C13 28.8 14.2 26.4 14.4 23 13.2 25 11.2 26.2 8.8 26.2 5.4 26.2 2.5 23.6 2.5 19.7 2.5 13 10 9 16 1.5Z",
  H: "M16 29.5C6 21.5 1.5 15.5 1.5 10 1.5 5.5 5 2.3 9 2.3 12 2.3 14.6 4.1 16 7 17.4 4.1 20 2.3 23 2.3 27 2.3 30.5 5.5 30.5 10 30.5 15.5 26 21.5 16 29.5Z",
  D: "M16 1C18.6 6.6 22.6 11.6 27.4 16 22.6 20.4 18.6 25.4 16 31 13.4 25.4 9.4 20.4 4.6 16 9.4 11.6 13.4 6.6 16 1Z",
  C: "M16 1.5A6.7 6.7 0 0 1 20.9 12.8 6.7 6.7 0 1 1 17.5 22.3C17.7 26 19 28.7 21.4 30.5H10.6C13 28.7 14.3 26 14.5 22.3A6.7 6.7 0 1 1 11.1 12.8 6.7 6.7 0 0 1 16 1.5Z",
};

function glyph(character, x, y, height, weight = 8) {
  const scale = height / 60;
  return h("path", { d: GLYPHS[character], class: character === "X" ? "glyph solid" : "glyph", transform: `translate(${x} ${y}) scale(${scale})`, "stroke-width": weight });
}

function sign(suit, cx, cy, size, turned = false) {
  const scale = size / 32;
  return h("path", { d: SIGNS[suit], class: "sign", transform: `translate(${cx} ${cy}) ${turned ? "rotate(180) " : ""}scale(${scale}) translate(-16 -16)` });
}

const turned = (...what) => h("g", { transform: "rotate(180 50 70)" }, ...what);

function index(rank, suit) {
  return [glyph(rank, 7, 8, 27, 8.5), sign(suit, 16, 47, 18), h("g", { class: "letter" }, glyph(suit, 10.5, 61, 15, 9))];
}

// --- pip cards: columns and rows of the signs --------------------------------------------------------------

const LEFT = 37, MIDDLE = 50, RIGHT = 63;
const PIPS = {
  A: [[MIDDLE, 70]],
  2: [[MIDDLE, 30], [MIDDLE, 110]],
  3: [[MIDDLE, 30], [MIDDLE, 70], [MIDDLE, 110]],
  4: [[LEFT, 30], [RIGHT, 30], [LEFT, 110], [RIGHT, 110]],
  5: [[LEFT, 30], [RIGHT, 30], [MIDDLE, 70], [LEFT, 110], [RIGHT, 110]],
  6: [[LEFT, 30], [RIGHT, 30], [LEFT, 70], [RIGHT, 70], [LEFT, 110], [RIGHT, 110]],
  7: [[LEFT, 30], [RIGHT, 30], [MIDDLE, 50], [LEFT, 70], [RIGHT, 70], [LEFT, 110], [RIGHT, 110]],
  8: [[LEFT, 30], [RIGHT, 30], [MIDDLE, 50], [LEFT, 70], [RIGHT, 70], [MIDDLE, 90], [LEFT, 110], [RIGHT, 110]],
  9: [[LEFT, 28], [RIGHT, 28], [LEFT, 56], [RIGHT, 56], [MIDDLE, 70], [LEFT, 84], [RIGHT, 84], [LEFT, 112], [RIGHT, 112]],
  T: [[LEFT, 28], [RIGHT, 28], [MIDDLE, 42], [LEFT, 56], [RIGHT, 56], [LEFT, 84], [RIGHT, 84], [MIDDLE, 98], [LEFT, 112], [RIGHT, 112]],
};

function pips(rank, suit) {
  if (rank === "A") return [sign(suit, 50, 70, 44)];
  return PIPS[rank].map(([x, y]) => sign(suit, x, y, 18, y > 70));
}

// --- court cards: one half, and the same half turned -------------------------------------------------------

function court(rank, suit) {
  const half = [h("path", { class: "court-ground", d: "M28 70V18Q28 14 32 14H72V70Z" }), ...COURTS[rank](), sign(suit, 36, 24, 11)];
  return [
    h("g", {}, ...half),
    turned(...half),
    h("path", { class: "court-line", d: "M28 70H72" }),
    h("rect", { class: "court-frame", x: 28, y: 14, width: 44, height: 112, rx: 4 }),
  ];
}

const FACE = [
  h("path", { class: "court-skin", d: "M42 38Q42 33 50 33T58 38V45Q57 53 50 54 43 53 42 45Z" }),
  h("path", { class: "court-feature", d: "M45.2 42.4H47.4M52.6 42.4H54.8M50 43V46.6H51.4M48 50H52" }),
];
const ROBE = [
  h("path", { class: "court-robe", d: "M28 70V66Q31 57 43 54.5L50 60 57 54.5Q69 57 72 66V70Z" }),
  h("path", { class: "court-trim", d: "M43 54.5 50 60 57 54.5 59 58 50 66 41 58Z" }),
  h("path", { class: "court-feature", d: "M33 70Q35 64 39 61M67 70Q65 64 61 61" }),
];

const COURTS = {
  J: () => [
    h("path", { class: "court-hair", d: "M39.5 52Q38 40 40 34H60Q62 40 60.5 52L57 49V38H43V49Z" }),
    ...ROBE,
    ...FACE,
    h("path", { class: "court-robe", d: "M38 35Q38 27 50 26.5 62 27 62 35L60 36.5H40Z" }),
    h("path", { class: "court-trim", d: "M38 34.5H62V38H38Z" }),
    h("path", { class: "court-trim", d: "M58 33Q66 30 66.5 19 59 22 56.5 29Z" }),
    h("path", { class: "court-feature", d: "M58 33Q62 28 65 21.5" }),
  ],
  Q: () => [
    h("path", { class: "court-hair", d: "M50 28Q37 28 37.5 44 37.5 53 33 57 40 60 44 56L43 38H57L56 56Q60 60 67 57 62.5 53 62.5 44 63 28 50 28Z" }),
    ...ROBE,
    ...FACE,
    h("path", { class: "court-trim", d: "M41 34.5 39.5 24.5 45 29 50 22 55 29 60.5 24.5 59 34.5Z" }),
    h("circle", { class: "court-jewel", cx: 50, cy: 21.5, r: 2.1 }),
    h("circle", { class: "court-jewel", cx: 39.5, cy: 24, r: 1.7 }),
    h("circle", { class: "court-jewel", cx: 60.5, cy: 24, r: 1.7 }),
    h("circle", { class: "court-jewel", cx: 50, cy: 61.5, r: 1.8 }),
  ],
  K: () => [
    h("path", { class: "court-hair", d: "M40 36H60Q62.5 44 60 51L57 47V37H43V47L40 51Q37.5 44 40 36Z" }),
    ...ROBE,
    ...FACE,
    h("path", { class: "court-hair", d: "M42 45Q44 47.5 47 47.2L50 46.4 53 47.2Q56 47.5 58 45 58.5 56 50 62.5 41.5 56 42 45ZM47.5 50Q50 51.6 52.5 50 50 48.6 47.5 50Z" }),
    h("path", { class: "court-trim", d: "M40 36 37.5 21.5 43.5 27 46 19.5 50 26 54 19.5 56.5 27 62.5 21.5 60 36Z" }),
    h("path", { class: "court-robe", d: "M40 32.6H60L59.5 36H40.5Z" }),
    h("path", { class: "court-jewel", d: "M48.9 12.5H51.1V15.4H54V17.6H51.1V21H48.9V17.6H46V15.4H48.9Z" }),
  ],
};

function joker() {
  const letters = [...t("card.joker_index")].slice(0, 6);
  const half = [
    h("path", { class: "court-ground", d: "M28 70V18Q28 14 32 14H72V70Z" }),
    ...ROBE,
    ...FACE,
    h("path", { class: "joker-left", d: "M50 36 40 37Q39 30 33.5 31.5 35 21 45 22.5 49 24 50 30Z" }),
    h("path", { class: "joker-right", d: "M50 36 60 37Q61 30 66.5 31.5 65 21 55 22.5 51 24 50 30Z" }),
    h("path", { class: "joker-left", d: "M45 27Q44 17 50 17T55 27L50 34Z" }),
    h("circle", { class: "court-jewel", cx: 33, cy: 33, r: 2.4 }),
    h("circle", { class: "court-jewel", cx: 67, cy: 33, r: 2.4 }),
    h("circle", { class: "court-jewel", cx: 50, cy: 16, r: 2.4 }),
  ];
  const label = letters.map((letter, line) => h("text", { class: "joker-letter", x: 16, y: 50 + line * 13, "text-anchor": "middle" }, letter));
  return [
    h("g", {}, ...half), turned(...half),
    h("path", { class: "court-line", d: "M28 70H72" }),
    h("rect", { class: "court-frame", x: 28, y: 14, width: 44, height: 112, rx: 4 }),
    glyph("X", 5, 8, 28), turned(glyph("X", 5, 8, 28)), ...(letters.length ? label : []),
  ];
}

function fullFace(rank, suit) {
  if (rank === "X") return joker();
  const middle = "JQK".includes(rank) ? court(rank, suit) : pips(rank, suit);
  return [...middle, ...index(rank, suit), turned(...index(rank, suit))];
}

// Small cards (melds, pile): rank and sign alone, at the left where the next card leaves them uncovered.
function smallFace(rank, suit) {
  if (rank === "X") return [glyph("X", 9, 14, 62), h("path", { class: "sign faint", d: GLYPHS.X, transform: "translate(38 62) scale(1.15)" })];
  return [
    glyph(rank, 9, 12, 50, 8.5), sign(suit, 26, 90, 40),
    h("g", { class: "letter" }, glyph(suit, 62, 22, 34, 9)),
    h("g", { class: "faint" }, sign(suit, 70, 104, 46)),
  ];
}

// A joker on the table: its star, and in the ink of that card what it stands for.
function standingFace(as) {
  const ink = h("g", { class: `ink-${as[1] || "X"}` }, as[1] ? [glyph(as[0], 11, 44, 40, 9), sign(as[1], 27, 113, 30)] : glyph(as[0], 11, 52, 56, 8.5));
  return [glyph("X", 13, 9, 28), ink, h("path", { class: "sign faint", d: GLYPHS.X, transform: "translate(46 70) scale(1.05)" })];
}

function backFace() {
  const lattice = [];
  // Both diagonals of squares, as far as they lie within the frame (5 to 95, 5 to 135).
  for (let place = -84; place <= 124; place += 12) {
    const [left, right] = [Math.max(5, 5 - place), Math.min(95, 135 - place)];
    if (left < right) lattice.push(`M${left} ${left + place} ${right} ${right + place}M${100 - left} ${left + place} ${100 - right} ${right + place}`);
  }
  return [
    h("rect", { class: "back-ground", x: 0, y: 0, width: 100, height: 140, rx: 9 }),
    h("path", { class: "back-lattice", d: lattice.join("") }),
    h("rect", { class: "back-frame", x: 5, y: 5, width: 90, height: 130, rx: 6 }),
    h("circle", { class: "back-disc", cx: 50, cy: 70, r: 21 }),
    h("g", { class: "back-signs" }, sign("S", 50, 60, 13), sign("C", 50, 80, 13, true), sign("D", 40, 70, 13), sign("H", 60, 70, 12)),
  ];
}

// --- symbols ---------------------------------------------------------------------------------------------------

const made = new Set();

function symbolFor(id, suit, face) {
  if (!made.has(id)) {
    made.add(id);
    const symbol = h("symbol", { id, viewBox: "0 0 100 140" }, h("g", { class: `ink ink-${suit || "X"}` }, ...face()));
    document.getElementById("card-symbols").append(create(symbol));
  }
  return `#${id}`;
}

/** Drawings hold words of the present language (the joker's index); forget them when it changes. */
export function forgetFaces() {
  made.clear();
  document.getElementById("card-symbols").replaceChildren();
}

/** The picture of a card, of its back (""), or small: `{small: true}`; of a joker that stands for a card: `{small: true, as}`. */
export function picture(card, { small = false, as = "" } = {}) {
  let id;
  if (!card) id = symbolFor("back", "", backFace);
  else {
    const { rank, suit } = parts(card);
    if (small && rank === "X" && as) id = symbolFor(`small-X-${as}`, "X", () => standingFace(as));
    else id = small ? symbolFor(`small-${rank}${suit}`, suit, () => smallFace(rank, suit)) : symbolFor(`face-${rank}${suit}`, suit, () => fullFace(rank, suit));
  }
  return h("svg", { class: card ? "face" : "face back", viewBox: "0 0 100 140", "aria-hidden": "true", focusable: "false" },
    card ? h("rect", { class: as ? "paper stands-for" : "paper", x: 0.75, y: 0.75, width: 98.5, height: 138.5, rx: 9 }) : null,
    h("use", { href: id, width: 100, height: 140 }));
}
