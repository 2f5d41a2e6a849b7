// Begins every canvas of the page: its size in device pixels, its background, and the dimming of numbers that are not live.

import type { Palette } from './palette.ts';

export interface CanvasFrame {
  /** CSS pixels. */
  readonly width: number;
  readonly height: number;
  readonly isStale: boolean;
  readonly palette: Palette;
}

const DIMMED = 0.45;

/** An empty canvas to draw on; null where canvas is not available. */
export function cleared(
  canvas: HTMLCanvasElement,
  { width, height, isStale, palette }: CanvasFrame,
  font: string,
): CanvasRenderingContext2D | null {
  const ratio = window.devicePixelRatio || 1;
  const [pixelsWide, pixelsHigh] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== pixelsWide || canvas.height !== pixelsHigh) {
    canvas.width = pixelsWide;
    canvas.height = pixelsHigh;
  }
  const context = canvas.getContext('2d');
  if (!context) return null;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.globalAlpha = 1;
  context.fillStyle = palette.panel;
  context.fillRect(0, 0, width, height);
  context.font = font;
  context.textBaseline = 'middle';
  context.globalAlpha = isStale ? DIMMED : 1;
  return context;
}
