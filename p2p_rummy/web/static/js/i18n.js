// Every sentence of the page comes from lang/<language>.json; keys are the same in each (tests/web/test_catalogues.py).

export const LANGUAGES = { en: "English", ja: "日本語", ko: "한국어" };

let sentences = {};
let phrases = {};
export let language = "en";

export async function useLanguage(wanted) {
  language = wanted in LANGUAGES ? wanted : "en";
  const answer = await fetch(`/static/lang/${language}.json`);
  if (!answer.ok) throw new Error(`no catalogue for ${language}`);
  sentences = await answer.json();
  document.documentElement.lang = language;
}

/** The language to begin with: what was chosen on this page, else what p2p-rummy was started with, else the browser's. */
export function preferredLanguage(chosen, started) {
  const asked = [chosen, started, ...(navigator.languages || [navigator.language])];
  return asked.map((name) => (name || "").slice(0, 2)).find((name) => name in LANGUAGES) || "en";
}

/** The sentence for `key` with its {fields} filled in. With a number `count`, "key.one" is used for 1 where there is one. */
export function t(key, values = {}) {
  const exact = values.count === 1 && sentences[`${key}.one`] !== undefined ? `${key}.one` : key;
  const sentence = sentences[exact];
  if (sentence === undefined) return key;
  return sentence.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
}

/** What the peer itself has translated, by its English: the options of a table, whose words have one source. */
export function usePhrases(translated) {
  phrases = translated;
}

/** A fault that the peer names by a stable word: in English its own message, else the phrase with the message after it. */
export function faultWords(word, message) {
  const named = phrases[`fault.${word}`];
  return named === undefined || language === "en" ? message : t("fault.with", { fault: named, details: message });
}

export function phrase(english) {
  return phrases[english] ?? english;
}

export function known(key) {
  return sentences[key] !== undefined;
}
