// Before the table: who I am, open a table, tables on this LAN, a ticket, what can be resumed; and the seats that fill.

import { h } from "./dom.js";
import { LANGUAGES, known, language, phrase, t } from "./i18n.js";
import { picture } from "./cards.js";
import { refusedWords } from "./words.js";

let failed = "";
let game = "rum500";
let busy = false;
let copied = "";

async function attempt(act, what, fields) {
  if (busy) return;
  busy = true;
  failed = "";
  act.render();
  try {
    await act.house(what, fields);
  } catch (refused) {
    failed = refusedWords(refused);
  } finally {
    busy = false;
    act.render();
  }
}

const values = (form) => Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, String(value).trim()]));

function submit(act, what, shape) {
  return (event) => {
    event.preventDefault();
    attempt(act, event.submitter?.value || what, shape(values(event.target)));
  };
}

function hero() {
  return h("div", { class: "hero", "aria-hidden": "true" }, ...["QS", "JH", "X1", "KD", "AC"].map((card, at) => h("span", { key: card, class: `card hero-${at}` }, picture(card))));
}

function languages(act) {
  return h("label", { class: "field language" }, h("span", {}, t("settings.language")),
    h("select", { on: { change: (event) => act.setting("language", event.target.value) } },
      ...Object.entries(LANGUAGES).map(([code, name]) => h("option", { key: code, value: code, lang: code, selected: code === language }, name))));
}

export function startPage(start, act) {
  const lan = start.tables || [];
  const old = start.resumable || [];
  return h("div", { class: "start", key: "start" },
    h("header", { class: "start-head" }, hero(), h("div", { class: "start-title" }, h("h1", {}, "p2p-rummy"), h("p", { class: "lead" }, t("start.lead"))), languages(act)),
    failed || start.problem ? h("p", { class: "banner", role: "alert" }, failed || start.problem) : null,
    h("main", { class: "start-grid" },
      h("section", { class: "start-card", "aria-labelledby": "open-title" }, h("h2", { id: "open-title" }, t("start.open")),
        h("form", { on: { submit: submit(act, "open", (form) => ({ name: form.name, game: form.game, options: changed(start, form), seats: Number(form.seats), bots: Number(form.bots), level: form.level, hints: form.hints === "on" })) } },
          field("start.name", h("input", { name: "name", maxlength: 24, required: true, value: start.name || "", autocomplete: "nickname" })),
          field("start.game", h("select", { name: "game", on: { change: (event) => { game = event.target.value; act.render(); } } }, ...(start.games || []).map((one) => h("option", { key: one, value: one, selected: one === game }, t(`game.${one}`))))),
          h("div", { class: "pair" },
            field("start.seats", h("select", { name: "seats" }, ...[2, 3, 4, 5, 6, 7, 8].map((count) => h("option", { key: count, value: count, selected: count === 3 }, count)))),
            field("start.bots", h("select", { name: "bots" }, ...[0, 1, 2, 3, 4, 5, 6, 7].map((count) => h("option", { key: count, value: count, selected: count === 2 }, count))))),
          field("start.level", h("select", { name: "level" }, ...(start.levels || []).map((level) => h("option", { key: level, value: level, selected: level === "steady" }, t(`level.${level}`))))),
          h("label", { class: "tick" }, h("input", { type: "checkbox", name: "hints" }), t("start.hints")),
          houseRules(start),
          h("button", { type: "submit", class: "do lit primary", "aria-disabled": busy ? "true" : undefined }, t("start.open_button")))),
      h("section", { class: "start-card", "aria-labelledby": "lan-title" }, h("h2", { id: "lan-title" }, t("start.lan")),
        lan.length ? h("ul", { class: "list" }, ...lan.map((table) => h("li", { key: table.ticket },
          h("span", {}, h("strong", {}, table.name), " ", t("start.table_line", { game: t(`game.${table.game}`), free: table.free })),
          h("button", { type: "button", class: "do lit", on: { click: () => attempt(act, "join", { ticket: table.ticket }) } }, t("start.join"))))) : h("p", { class: "muted" }, t("start.lan_none"))),
      h("section", { class: "start-card", "aria-labelledby": "ticket-title" }, h("h2", { id: "ticket-title" }, t("start.ticket")),
        h("form", { on: { submit: submit(act, "join", (form) => ({ name: form.name, ticket: form.ticket })) } },
          field("start.name", h("input", { name: "name", maxlength: 24, required: true, value: start.name || "", autocomplete: "nickname" })),
          field("start.ticket_field", h("input", { name: "ticket", required: true, autocomplete: "off", spellcheck: "false", maxlength: 2000 })),
          h("div", { class: "buttons" },
            h("button", { type: "submit", value: "join", class: "do lit primary" }, t("start.join")),
            h("button", { type: "submit", value: "watch", class: "do lit" }, t("start.watch"))))),
      old.length ? h("section", { class: "start-card", "aria-labelledby": "resume-title" }, h("h2", { id: "resume-title" }, t("start.resume")),
        h("ul", { class: "list" }, ...old.map((table) => h("li", { key: table.table },
          h("span", {}, h("strong", {}, table.names.join(", ")), " ", t("start.resume_line", { game: t(`game.${table.game}`) })),
          h("button", { type: "button", class: "do lit", on: { click: () => attempt(act, "resume", { table: table.table }) } }, t("start.resume_button")))))) : null),
    h("footer", { class: "start-foot" }, h("p", {}, t("start.trust")), start.fingerprint ? h("p", { class: "mono" }, t("start.fingerprint", { fingerprint: start.fingerprint })) : null));
}

/** Every option of the game chosen, as the command line has it; only what differs from the game's own is sent. */
function houseRules(start) {
  const rows = (start.options?.[game] || []).filter((option) => !["hints", "players_min", "players_max"].includes(option.name));
  return h("details", { class: "options", key: `options-${game}` }, h("summary", {}, t("start.options")),
    ...rows.map((option) => h("div", { key: option.name, class: "option" },
      h("label", { for: `set-${option.name}` }, phrase(option.text)),
      option.values.length
        ? h("select", { id: `set-${option.name}`, name: `set-${option.name}` }, ...option.values.map((value) => h("option", { key: value, value, selected: value === option.value }, meaning(option, value))))
        : h("input", { id: `set-${option.name}`, name: `set-${option.name}`, value: option.value, title: phrase(option.allowed), autocomplete: "off", spellcheck: "false", maxlength: 100 }),
      h("p", { class: "small-print" }, `${option.name} · ${option.rule}`))));
}

/** What a value of an option means; the words for yes, no and the like are the page's own. */
function meaning(option, value) {
  if (option.meanings[value]) return phrase(option.meanings[value]);
  return known(`option.${value}`) ? t(`option.${value}`) : value;
}

function changed(start, form) {
  const found = {};
  for (const option of start.options?.[form.game] || []) {
    const value = form[`set-${option.name}`];
    if (value !== undefined && value !== option.value) found[option.name] = value;
  }
  return found;
}

function field(key, control) {
  return h("label", { class: "field" }, h("span", {}, t(key)), control);
}

/** Whether it worked the button says; where a browser refuses, the ticket can be selected. */
function copy(ticket, act) {
  navigator.clipboard?.writeText(ticket).then(() => { copied = ticket; act.render(); }, () => { failed = t("seating.copy_refused"); act.render(); });
}

const seconds = (ms) => t("seating.seconds", { count: Math.round(ms / 1000) });

/** What is signed beside the options. */
function agreed({ times, seats, strict, patient }) {
  return [
    ["start.seats", String(seats)],
    ["seating.window", times.window ? seconds(times.window) : t("seating.no_countdown")],
    ["seating.turn", seats === 2 || patient ? t("seating.no_limit") : seconds(times.turn)],
    ["seating.missing", t(seats === 2 || patient ? "seating.missing_waits" : strict ? "seating.missing_void" : "seating.missing_dropped")],
  ];
}

function code(rows) {
  const path = rows.map((row, y) => [...row].map((dot, x) => (dot === "1" ? `M${x} ${y}h1v1h-1z` : "")).join("")).join("");
  return h("svg", { class: "qr", viewBox: `-2 -2 ${rows.length + 4} ${rows.length + 4}`, role: "img", "aria-label": t("seating.code") },
    h("rect", { x: -2, y: -2, width: rows.length + 4, height: rows.length + 4, fill: "#fff" }), h("path", { d: path, fill: "#000" }));
}

export function seatingPage(seating, act) {
  return h("div", { class: "start", key: "seating" },
    h("header", { class: "start-head" }, hero(), h("div", { class: "start-title" }, h("h1", {}, t("seating.title")), h("p", { class: "lead" }, t("seating.lead", { taken: seating.players.length, seats: seating.seats })))),
    failed ? h("p", { class: "banner", role: "alert" }, failed) : null,
    seating.problem ? h("p", { class: "banner", role: "alert" }, seating.problem) : null,
    h("main", { class: "start-grid" },
      seating.ticket ? h("section", { class: "start-card", "aria-labelledby": "ticket-title" }, h("h2", { id: "ticket-title" }, t("seating.ticket")),
        h("p", { class: "ticket mono", tabindex: 0 }, seating.ticket),
        h("button", { type: "button", class: "do lit primary", on: { click: () => copy(seating.ticket, act) } }, t(copied === seating.ticket ? "seating.copied" : "seating.copy")),
        seating.qr ? code(seating.qr) : null) : null,
      h("section", { class: "start-card", "aria-labelledby": "who-title" }, h("h2", { id: "who-title" }, t("seating.who")),
        h("ul", { class: "list" }, ...Array.from({ length: seating.seats }, (_, seat) => {
          const player = seating.players[seat];
          return h("li", { key: seat }, player
            ? h("span", {}, h("strong", {}, player.name), player.bot ? ` ${t("seat.bot", { level: t(`level.${player.bot}`) })}` : "", h("span", { class: "mono small-print" }, ` ${player.fingerprint}`),
              player.another_key ? h("span", { class: "warning" }, t("seating.another_key", { name: player.name })) : null)
            : h("span", { class: "muted" }, t("seating.free")));
        })),
        seating.hosting && seating.players.length > 1 && seating.players.length < seating.seats
          ? h("button", { type: "button", class: "do lit", on: { click: () => attempt(act, "begin", {}) } }, t("seating.begin", { count: seating.players.length })) : null,
        seating.words ? h("div", { class: "words" }, h("p", {}, t("shuffle.words")), h("p", { class: "word-list" }, seating.words)) : null),
      h("section", { class: "start-card", "aria-labelledby": "what-title" }, h("h2", { id: "what-title" }, t("seating.agreement")),
        h("dl", { class: "log-facts" }, h("dt", {}, t("start.game")), h("dd", {}, t(`game.${seating.game}`)),
          ...agreed(seating).flatMap(([name, value]) => [h("dt", { key: name }, t(name)), h("dd", { key: `${name}v` }, value)]),
          ...Object.entries(seating.options || {}).flatMap(([name, value]) => [h("dt", { key: name }, name), h("dd", { key: `${name}v` }, String(value))])))),
    h("footer", { class: "start-foot" }, h("button", { type: "button", class: "do lit", on: { click: act.leave } }, t("seating.leave"))));
}
