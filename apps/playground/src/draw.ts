// Pictures on canvases.
export const COLOURS: readonly (readonly [number, number, number])[] = [
  [94, 160, 255],
  [255, 138, 92],
  [120, 214, 142],
];
const GRID = '#2c3240';
const LINE = '#5ea0ff';

export function context(id: string): CanvasRenderingContext2D {
  const found = (document.getElementById(id) as HTMLCanvasElement | null)?.getContext('2d');
  if (!found) throw new Error(`there is no canvas ${id}`);
  return found;
}

/** Draws an image of another size over the whole canvas. @param pixel red, green and blue of each pixel, in rows. */
export function image(
  to: CanvasRenderingContext2D,
  width: number,
  height: number,
  pixel: (i: number) => readonly [number, number, number],
): void {
  const data = new ImageData(width, height);
  for (let i = 0; i < width * height; i++) data.data.set([...pixel(i), 255], i * 4);
  const small = new OffscreenCanvas(width, height);
  small.getContext('2d')?.putImageData(data, 0, 0);
  to.imageSmoothingEnabled = true;
  to.drawImage(small, 0, 0, to.canvas.width, to.canvas.height);
}

export function dots(
  to: CanvasRenderingContext2D,
  points: readonly (readonly number[])[],
  labels: readonly number[],
): void {
  const { width, height } = to.canvas;
  points.forEach(([x = 0, y = 0], i) => {
    const colour = COLOURS[labels[i] ?? 0] ?? [255, 255, 255];
    to.beginPath();
    to.arc(((x + 1.1) / 2.2) * width, ((y + 1.1) / 2.2) * height, 3.2, 0, 2 * Math.PI);
    to.fillStyle = `rgb(${colour.join(' ')})`;
    to.fill();
    to.lineWidth = 1;
    to.strokeStyle = '#0b0d12';
    to.stroke();
  });
}

/** A curve of up to `end` values from 0 on, with lines at round values. @param label of the last one. */
export function curve(
  to: CanvasRenderingContext2D,
  values: readonly number[],
  end: number,
  label: string,
): void {
  const { width, height } = to.canvas;
  const [left, bottom, top] = [34, 24, 12];
  const most = Math.max(1.2, ...values);
  const y = (v: number): number => height - bottom - (v / most) * (height - bottom - top);
  to.clearRect(0, 0, width, height);
  to.font = '11px system-ui, sans-serif';
  to.fillStyle = '#8790a2';
  to.lineWidth = 1;
  to.strokeStyle = GRID;
  for (let v = 0; v <= most; v += 0.25) {
    to.fillText(v.toFixed(2), 6, y(v) + 4);
    to.beginPath();
    to.moveTo(left, y(v));
    to.lineTo(width - 10, y(v));
    to.stroke();
  }
  to.fillText('0', left, height - 8);
  to.fillText(label, width - 60, height - 8);
  to.strokeStyle = LINE;
  to.lineWidth = 2;
  to.beginPath();
  values.forEach((v, i) => to.lineTo(left + (i / end) * (width - 10 - left), y(v)));
  to.stroke();
}

export function bars(to: CanvasRenderingContext2D, values: readonly number[]): void {
  const { width, height } = to.canvas;
  const most = Math.max(...values);
  const step = (width - 20) / values.length;
  to.clearRect(0, 0, width, height);
  values.forEach((v, i) => {
    const tall = (v / most) * (height - 24);
    to.fillStyle = `hsl(${210 - (v / most) * 190} 85% 66%)`;
    to.fillRect(10 + i * step, height - 10 - tall, Math.max(step - 1.2, 1), tall);
  });
}

/** A colour for a share of 0 to 1: dark blue over orange to white. */
export function glow(share: number): readonly [number, number, number] {
  const s = share ** 0.45;
  return [255 * Math.min(1, s * 1.6), 255 * s ** 1.7, 255 * Math.max(0.12, Math.sin(s * Math.PI) * 0.75)];
}
