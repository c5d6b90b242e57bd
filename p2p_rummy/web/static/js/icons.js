// The six reactions and the few signs of the bar, drawn here.

import { h } from "./dom.js";

export const REACTIONS = ["clap", "laugh", "wow", "ouch", "thanks", "hurry"];

const face = (...inner) => [h("circle", { class: "r-face", cx: 16, cy: 16, r: 13 }), ...inner];
const line = (d) => h("path", { class: "r-line", d });

const REACTION_ART = {
  clap: [
    h("path", { class: "r-face", d: "M9 27C5 22 5 17 8 13L12 6Q14 4 15.5 6L14 12 20 6Q22.5 5 22.5 7.5L19 13 24 10Q26.5 10 26 12.5L21 18 25 17Q27 18 25.5 20L18 26Q13 30 9 27Z" }),
    line("M24 3 23 5.5M28.5 6 26.5 7.5M29 11.5 27.4 11.5"),
  ],
  laugh: face(line("M9 13Q11 10 13 13M19 13Q21 10 23 13"), h("path", { class: "r-dark", d: "M9 17H23Q22 25 16 25T9 17Z" })),
  wow: face(h("circle", { class: "r-dark", cx: 11.5, cy: 13, r: 1.8 }), h("circle", { class: "r-dark", cx: 20.5, cy: 13, r: 1.8 }), h("ellipse", { class: "r-dark", cx: 16, cy: 21.5, rx: 3.2, ry: 4 })),
  ouch: face(line("M9 11 13 13.5 9 16M23 11 19 13.5 23 16M10 23Q13 19 16 22T22 22")),
  thanks: [h("path", { class: "r-heart", d: "M16 28C7 21 3 15.5 3 10.5 3 6.4 6 3.5 9.6 3.5 12.3 3.5 14.7 5 16 7.7 17.3 5 19.7 3.5 22.4 3.5 26 3.5 29 6.4 29 10.5 29 15.5 25 21 16 28Z" })],
  hurry: [h("circle", { class: "r-face", cx: 16, cy: 18, r: 11 }), line("M16 11V18L20.5 20.5M13 3.5H19M16 3.5V7M25 8.5 27 6.5")],
};

export function reactionIcon(name) {
  return h("svg", { class: "reaction", viewBox: "0 0 32 32", "aria-hidden": "true" }, ...(REACTION_ART[name] || []));
}

const SIGNS = {
  scores: "M5 4H19V20H5ZM8 9H16M8 13H16M8 17H13",
  shuffle: "M3 7H7C12 7 12 17 17 17H21M3 17H7C9 17 10.3 15.3 11.3 13.3M13 9.8C14 8.2 15.3 7 17 7H21M18 4 21 7 18 10M18 14 21 17 18 20",
  talk: "M4 5H20V16H11L6 20V16H4Z",
  rules: "M5 4H16Q19 4 19 7V20H8Q5 20 5 17ZM5 17Q5 14.5 8 14.5H19M9 8H15",
  settings: "M4 7H11M17 7H20M4 17H7M13 17H20M14 4.5A2.5 2.5 0 1 1 14 9.5 2.5 2.5 0 0 1 14 4.5ZM10 14.5A2.5 2.5 0 1 1 10 19.5 2.5 2.5 0 0 1 10 14.5Z",
  again: "M5 12A7 7 0 1 1 7.5 17.4M5 12 2.5 9M5 12 8 9.5",
  close: "M6 6 18 18M18 6 6 18",
  keys: "M3 7H21V17H3ZM6 10H7M10 10H11M14 10H15M17 10H18M7 14H17",
};

export function icon(name) {
  return h("svg", { class: "icon", viewBox: "0 0 24 24", "aria-hidden": "true" }, h("path", { d: SIGNS[name] }));
}
