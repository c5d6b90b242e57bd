// What this page remembers about its looks. Nothing of a game is kept here.

const STORE = "p2p-rummy";
const DEFAULTS = {
  theme: "auto", // auto, dark, light
  colours: "four", // two, four
  letters: false, // letters beside the suit signs
  motion: "auto", // auto, off
  sound: true,
  keys: true, // single-key shortcuts
  notify: false,
  muted: [], // seats whose chat and reactions are not shown, by fingerprint
  language: "",
};

export const settings = { ...DEFAULTS };

export function load() {
  try {
    Object.assign(settings, JSON.parse(localStorage.getItem(STORE) || "{}"));
  } catch {
    Object.assign(settings, DEFAULTS);
  }
  show();
}

export function change(name, value) {
  settings[name] = value;
  try {
    localStorage.setItem(STORE, JSON.stringify(settings));
  } catch {
    // A browser that keeps nothing still plays; the choice holds until the page is closed.
  }
  show();
}

function show() {
  const root = document.documentElement;
  root.dataset.theme = settings.theme;
  root.dataset.colours = settings.colours;
  root.dataset.letters = settings.letters ? "on" : "off";
  root.dataset.motion = settings.motion;
}

export function movesAreShown() {
  return settings.motion !== "off" && !matchMedia("(prefers-reduced-motion: reduce)").matches;
}
