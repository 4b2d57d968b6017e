import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

export interface Area {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

interface Props {
  /** Of the whole drawing. */
  readonly area: Area;
  readonly children: ComponentChildren;
}

interface Place {
  readonly x: number;
  readonly y: number;
}

/** The size of a whole drawing at first, but not larger than it is; then moved by mouse, fingers, buttons and keys. */
export function Canvas({ area, children }: Props) {
  const { width, height } = area;
  const svg = useRef<SVGSVGElement>(null);
  const [size, setSize] = useState({ width: 1, height: 1 });
  /** The middle of what is seen, from that of the drawing, and how much larger than at first. */
  const [view, setView] = useState({ x: 0, y: 0, zoom: 1 });
  const fingers = useRef(new Map<number, Place>());
  useEffect(() => {
    if (svg.current === null) return;
    const observer = new ResizeObserver(([entry]) => entry && setSize(entry.contentRect));
    observer.observe(svg.current);
    return () => observer.disconnect();
  }, []);
  /** Units of the drawing in a pixel. */
  const scale = Math.max(width / size.width, height / size.height, 1) / view.zoom;
  const [wide, tall] = [size.width * scale, size.height * scale];
  const left = area.x + width / 2 + view.x - wide / 2;
  const top = area.y + height / 2 + view.y - tall / 2;

  /** Around a place on the screen, which stays where it is; else around the middle. */
  const zoomBy = (factor: number, at?: Place): void => {
    const box = svg.current?.getBoundingClientRect();
    const dx = at && box ? at.x - box.left - box.width / 2 : 0;
    const dy = at && box ? at.y - box.top - box.height / 2 : 0;
    setView((old) => {
      const zoom = Math.min(16, Math.max(0.2, old.zoom * factor));
      const shift = scale * (1 - old.zoom / zoom);
      return { x: old.x + dx * shift, y: old.y + dy * shift, zoom };
    });
  };
  const moveBy = (dx: number, dy: number): void =>
    setView((old) => ({ ...old, x: old.x + dx * scale, y: old.y + dy * scale }));
  const whole = (): void => setView({ x: 0, y: 0, zoom: 1 });

  const moved = (event: PointerEvent): void => {
    const before = fingers.current.get(event.pointerId);
    if (before === undefined) return;
    const now = { x: event.clientX, y: event.clientY };
    const other = [...fingers.current].find(([id]) => id !== event.pointerId)?.[1];
    fingers.current.set(event.pointerId, now);
    if (other === undefined) moveBy(before.x - now.x, before.y - now.y);
    else zoomBy(distance(now, other) / (distance(before, other) || 1), other);
  };
  const gone = (event: PointerEvent): void => {
    fingers.current.delete(event.pointerId);
  };
  useEffect(() => {
    const element = svg.current;
    const wheel = (event: WheelEvent): void => {
      event.preventDefault();
      zoomBy(event.deltaY < 0 ? 1.15 : 1 / 1.15, { x: event.clientX, y: event.clientY });
    };
    // Not passive, so that the page stays where it is.
    element?.addEventListener('wheel', wheel, { passive: false });
    return () => element?.removeEventListener('wheel', wheel);
  });
  const step = 60;
  const keys: Readonly<Record<string, () => void>> = {
    '+': () => zoomBy(1.25),
    '=': () => zoomBy(1.25),
    '-': () => zoomBy(0.8),
    '0': whole,
    ArrowLeft: () => moveBy(-step, 0),
    ArrowRight: () => moveBy(step, 0),
    ArrowUp: () => moveBy(0, -step),
    ArrowDown: () => moveBy(0, step),
  };
  return (
    <div class="frame">
      {/* biome-ignore lint/a11y/useSemanticElements: a drawing is no fieldset */}
      <svg
        ref={svg}
        class="canvas"
        aria-label="graph: arrows move it; +, - and 0 zoom"
        role="group"
        // In small letters: in an SVG nothing else counts.
        tabindex={0}
        viewBox={`${left} ${top} ${wide} ${tall}`}
        onKeyDown={(event) => {
          const act = keys[event.key];
          if (act === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
          event.preventDefault();
          event.stopPropagation();
          act();
        }}
        onPointerDown={(event) =>
          fingers.current.set(event.pointerId, { x: event.clientX, y: event.clientY })
        }
        onPointerMove={moved}
        onPointerUp={gone}
        onPointerCancel={gone}
        onPointerLeave={gone}
      >
        {children}
      </svg>
      <div class="zoom">
        <button type="button" aria-label="zoom in" onClick={() => zoomBy(1.5)}>
          +
        </button>
        <button type="button" aria-label="zoom out" onClick={() => zoomBy(1 / 1.5)}>
          −
        </button>
        <button type="button" onClick={whole}>
          Fit
        </button>
      </div>
    </div>
  );
}

const distance = (a: Place, b: Place): number => Math.hypot(a.x - b.x, a.y - b.y);
