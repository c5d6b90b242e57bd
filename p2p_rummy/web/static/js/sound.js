// Sounds made on the spot: short, soft, and silent until the player has touched the page (browsers ask for that).

import { settings } from "./settings.js";

let audio = null;

function context() {
  if (!settings.sound || document.hidden && !audio) return null;
  if (!audio) {
    if (!navigator.userActivation || !navigator.userActivation.hasBeenActive) return null;
    audio = new AudioContext();
  }
  return audio;
}

function tone(frequency, start, length, { type = "sine", volume = 0.12, glide = 0 } = {}) {
  const out = context();
  if (!out) return;
  const at = out.currentTime + start;
  const oscillator = out.createOscillator();
  const gain = out.createGain();
  oscillator.type = type;
  oscillator.frequency.setValueAtTime(frequency, at);
  if (glide) oscillator.frequency.exponentialRampToValueAtTime(frequency * glide, at + length);
  gain.gain.setValueAtTime(0, at);
  gain.gain.linearRampToValueAtTime(volume, at + 0.012);
  gain.gain.exponentialRampToValueAtTime(0.0005, at + length);
  oscillator.connect(gain).connect(out.destination);
  oscillator.start(at);
  oscillator.stop(at + length + 0.02);
}

function rustle(length, brightness, volume) {
  const out = context();
  if (!out) return;
  const frames = Math.floor(out.sampleRate * length);
  const buffer = out.createBuffer(1, frames, out.sampleRate);
  const data = buffer.getChannelData(0);
  for (let at = 0; at < frames; at++) data[at] = (Math.random() * 2 - 1) * (1 - at / frames) ** 3;
  const source = out.createBufferSource();
  source.buffer = buffer;
  const filter = out.createBiquadFilter();
  filter.type = "bandpass";
  filter.frequency.value = brightness;
  const gain = out.createGain();
  gain.gain.value = volume;
  source.connect(filter).connect(gain).connect(out.destination);
  source.start();
}

const SOUNDS = {
  card: () => rustle(0.09, 2600, 0.5),
  meld: () => { rustle(0.09, 2200, 0.5); tone(392, 0.03, 0.16, { type: "triangle", volume: 0.05 }); tone(523, 0.09, 0.2, { type: "triangle", volume: 0.05 }); },
  turn: () => { tone(659, 0, 0.22); tone(880, 0.13, 0.35); },
  window: () => tone(740, 0, 0.12, { type: "triangle", volume: 0.07 }),
  rummy: () => { for (const [step, note] of [523, 659, 784, 1047].entries()) tone(note, step * 0.08, 0.4, { type: "triangle", volume: 0.1 }); },
  over: () => { for (const [step, note] of [392, 523, 659, 784].entries()) tone(note, step * 0.14, 0.5, { volume: 0.1 }); },
  refused: () => tone(196, 0, 0.18, { type: "triangle", glide: 0.8 }),
  shuffle: () => { for (let step = 0; step < 6; step++) setTimeout(() => rustle(0.06, 1800 + step * 150, 0.3), step * 45); },
  chat: () => tone(988, 0, 0.09, { volume: 0.05 }),
};

/** Soon: what is seen comes first. */
export function play(name) {
  setTimeout(() => {
    try {
      SOUNDS[name]();
    } catch {
      // A browser without sound is a quiet table, not a broken one.
    }
  }, 0);
}
