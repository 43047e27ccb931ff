/* Sound: a short click for each tile that is laid, off until the user turns it on. */
"use strict";
const Sound = (() => {
  const KEY = "boneyard-sound";
  const LASTS_S = 0.05, LOUD = 0.25, PITCH_HZ = 1900;
  let audio = null, on = remembered();

  function remembered() {
    try {
      return localStorage.getItem(KEY) === "on";
    } catch {
      return false;
    }
  }

  function remember() {
    try {
      localStorage.setItem(KEY, on ? "on" : "off");
    } catch {
      // The choice holds until the page is closed.
    }
  }

  /** Clicks like a tile on wood: a tone that falls silent at once. */
  function click() {
    if (!on || !navigator.userActivation?.hasBeenActive) return;
    audio ||= new AudioContext();
    const tone = audio.createOscillator(), volume = audio.createGain(), now = audio.currentTime;
    tone.type = "triangle";
    tone.frequency.setValueAtTime(PITCH_HZ, now);
    tone.frequency.exponentialRampToValueAtTime(PITCH_HZ / 5, now + LASTS_S);
    volume.gain.setValueAtTime(LOUD, now);
    volume.gain.exponentialRampToValueAtTime(0.001, now + LASTS_S);
    tone.connect(volume).connect(audio.destination);
    tone.start(now);
    tone.stop(now + LASTS_S);
  }

  /** Makes a checkbox turn the sound on and off. */
  function control(box) {
    box.checked = on;
    box.addEventListener("change", () => {
      on = box.checked;
      remember();
      click();
    });
  }

  return { click, control };
})();
