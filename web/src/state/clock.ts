// The time that ages are counted to, and the one loop that draws.

import { signal } from '@preact/signals';

const TICK_MS = 250;

/** Unix milliseconds, four times a second. */
export const now = signal(Date.now());
setInterval(() => {
  now.value = Date.now();
}, TICK_MS);

type Draw = () => void;

const waiting = new Set<Draw>();
let isRequested = false;
const after = new Set<(workMs: number) => void>();

/** Calls `draw` once in the next frame, however often it is requested. */
export function requestDraw(draw: Draw): void {
  waiting.add(draw);
  if (isRequested) return;
  isRequested = true;
  requestAnimationFrame(runFrame);
}

function runFrame(): void {
  isRequested = false;
  const started = performance.now();
  const draws = [...waiting];
  waiting.clear();
  for (const draw of draws) draw();
  const workMs = performance.now() - started;
  for (const listener of after) listener(workMs);
}

/** Calls `listener` with the milliseconds of drawing after each frame. */
export function onFrame(listener: (workMs: number) => void): void {
  after.add(listener);
}
