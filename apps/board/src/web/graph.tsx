import dagre from '@dagrejs/dagre';
import { useMemo, useRef, useState } from 'preact/hooks';
import type { GraphAnswer, GraphNode } from '../api.ts';
import type { ViewProps } from './app.tsx';
import { type Edge, type Unit, unitsOf } from './graph-units.ts';
import { address, useAnswer } from './server.ts';

// Drawing more boxes takes long and shows nothing.
const MOST_BOXES = 800;
const HEIGHT = 30;

/** The graph of a run: click on a scope to open it, on a node to read it; drag and turn the wheel to move about. */
export function GraphView({ runs }: ViewProps) {
  const choices = runs.flatMap((run) => run.graphs.map((tag) => ({ run: run.name, tag })));
  const [chosen, setChosen] = useState(0);
  const choice = choices[Math.min(chosen, choices.length - 1)];
  const { value, error } = useAnswer<GraphAnswer>(choice && address('graph', choice));
  const [part, setPart] = useState('');
  if (choice === undefined) return null;
  const nodes = value?.functions.find((f) => f.name === part)?.nodes ?? value?.nodes;
  return (
    <section class="graph">
      <div class="tools">
        <label>
          Graph{' '}
          <select value={chosen} onChange={(event) => setChosen(Number(event.currentTarget.value))}>
            {choices.map(({ run, tag }, i) => (
              <option key={`${run} ${tag}`} value={i}>
                {run}: {tag}
              </option>
            ))}
          </select>
        </label>
        {(value?.functions.length ?? 0) > 0 && (
          <label>
            Part{' '}
            <select value={part} onChange={(event) => setPart(event.currentTarget.value)}>
              <option value="">the graph itself</option>
              {value?.functions.map((f) => (
                <option key={f.name} value={f.name}>
                  {f.name} ({f.nodes.length} nodes)
                </option>
              ))}
            </select>
          </label>
        )}
      </div>
      {error !== undefined && <p class="problem">{error}</p>}
      {nodes !== undefined && <Drawing key={`${choice.run} ${choice.tag} ${part}`} nodes={nodes} />}
    </section>
  );
}

function Drawing({ nodes }: { readonly nodes: readonly GraphNode[] }) {
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const [selected, setSelected] = useState<GraphNode | undefined>();
  const drawn = useMemo(() => unitsOf(nodes, open), [nodes, open]);
  const layout = useMemo(() => (drawn.units.length > MOST_BOXES ? undefined : layOut(drawn)), [drawn]);
  if (layout === undefined) {
    return (
      <p class="problem">
        {drawn.units.length} boxes are more than can be drawn.{' '}
        {open.size > 0 && (
          <button type="button" onClick={() => setOpen(new Set())}>
            Close all
          </button>
        )}
      </p>
    );
  }
  return (
    <div class="drawing">
      <Canvas width={layout.width} height={layout.height}>
        <defs>
          <marker
            id="arrow"
            viewBox="0 0 6 6"
            refX="6"
            refY="3"
            markerWidth="6"
            markerHeight="6"
            orient="auto"
          >
            <path d="M0 0 6 3 0 6z" class="arrow" />
          </marker>
        </defs>
        {layout.edges.map(({ edge, path }) => (
          <path
            key={`${edge.from} ${edge.to} ${edge.control}`}
            d={path}
            class={edge.control ? 'edge control' : 'edge'}
            marker-end="url(#arrow)"
            stroke-width={Math.min(4, 1 + Math.log2(edge.count))}
          >
            <title>{edge.control ? 'order only' : `${edge.count} tensor${edge.count > 1 ? 's' : ''}`}</title>
          </path>
        ))}
        {layout.boxes.map(({ unit, x, y, width }) => (
          // biome-ignore lint/a11y/useSemanticElements: a button cannot be drawn inside of an SVG
          <g
            key={unit.id}
            role="button"
            tabIndex={0}
            class={unit.node === null ? 'box scope' : 'box'}
            aria-label={unit.node === null ? `open ${unit.id}` : unit.id}
            onClick={() => pick(unit)}
            onKeyDown={(event) => {
              if (event.key === 'Enter') pick(unit);
            }}
          >
            <title>{unit.id}</title>
            <rect
              x={x - width / 2}
              y={y - HEIGHT / 2}
              width={width}
              height={HEIGHT}
              rx={unit.node ? 14 : 4}
            />
            <text x={x} y={y}>
              {label(unit)}
            </text>
          </g>
        ))}
      </Canvas>
      <aside class="details">
        <p>
          {nodes.length} nodes.{' '}
          {open.size > 0 && (
            <button type="button" onClick={() => setOpen(new Set())}>
              Close all scopes
            </button>
          )}
        </p>
        <ul>
          {[...open].map((scope) => (
            <li key={scope}>
              <button type="button" onClick={() => setOpen(new Set([...open].filter((s) => s !== scope)))}>
                close {scope}
              </button>
            </li>
          ))}
        </ul>
        {selected !== undefined && (
          <dl>
            <dt>name</dt>
            <dd>{selected.name}</dd>
            <dt>op</dt>
            <dd>{selected.op}</dd>
            {selected.device !== '' && (
              <>
                <dt>device</dt>
                <dd>{selected.device}</dd>
              </>
            )}
            <dt>inputs</dt>
            <dd>{selected.inputs.join(', ') || 'none'}</dd>
            {Object.entries(selected.attributes).map(([name, value]) => (
              <>
                <dt>{name}</dt>
                <dd>{value}</dd>
              </>
            ))}
          </dl>
        )}
      </aside>
    </div>
  );

  function pick(unit: Unit): void {
    if (unit.node === null) setOpen(new Set([...open, unit.id]));
    else setSelected(unit.node);
  }
}

const last = (name: string): string => name.slice(name.lastIndexOf('/') + 1);
const label = (unit: Unit): string =>
  unit.node === null
    ? `${last(unit.id)} (${unit.size})`
    : last(unit.id) === unit.node.op
      ? unit.node.op
      : `${last(unit.id)}: ${unit.node.op}`;

function layOut({ units, edges }: { readonly units: readonly Unit[]; readonly edges: readonly Edge[] }) {
  const graph = new dagre.graphlib.Graph({ multigraph: true });
  graph.setGraph({ rankdir: 'BT', nodesep: 18, ranksep: 34, marginx: 12, marginy: 12 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const unit of units) graph.setNode(unit.id, { width: label(unit).length * 7 + 24, height: HEIGHT });
  for (const edge of edges) graph.setEdge(edge.from, edge.to, {}, String(edge.control));
  dagre.layout(graph);
  const { width = 0, height = 0 } = graph.graph();
  return {
    width,
    height,
    boxes: units.map((unit) => ({ unit, ...graph.node(unit.id) })),
    edges: edges.map((edge) => {
      const { points } = graph.edge(edge.from, edge.to, String(edge.control));
      return {
        edge,
        path: `M${points.map(({ x, y }: { readonly x: number; readonly y: number }) => `${x.toFixed(1)} ${y.toFixed(1)}`).join('L')}`,
      };
    }),
  };
}

interface CanvasProps {
  readonly width: number;
  readonly height: number;
  readonly children: preact.ComponentChildren;
}

/** A drawing that moves with the mouse, and by the keys `+`, `-` and `0`. */
function Canvas({ width, height, children }: CanvasProps) {
  const [view, setView] = useState({ x: 0, y: 0, zoom: 1 });
  const grip = useRef<{ readonly x: number; readonly y: number } | undefined>(undefined);
  const zoomBy = (factor: number): void =>
    setView((old) => ({ ...old, zoom: Math.min(8, Math.max(0.05, old.zoom * factor)) }));
  return (
    <svg
      class="canvas"
      aria-label="graph"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the keys need the focus
      tabIndex={0}
      viewBox={`${view.x} ${view.y} ${width / view.zoom} ${height / view.zoom}`}
      preserveAspectRatio="xMidYMid meet"
      onWheel={(event) => {
        event.preventDefault();
        zoomBy(event.deltaY < 0 ? 1.15 : 1 / 1.15);
      }}
      onKeyDown={(event) => {
        if (event.key === '+') zoomBy(1.25);
        if (event.key === '-') zoomBy(0.8);
        if (event.key === '0') setView({ x: 0, y: 0, zoom: 1 });
      }}
      onPointerDown={(event) => {
        grip.current = { x: event.clientX, y: event.clientY };
      }}
      onPointerMove={(event) => {
        if (grip.current === undefined || event.buttons === 0) return;
        const size = event.currentTarget.getBoundingClientRect();
        const scale = Math.max(width / view.zoom / size.width, height / view.zoom / size.height);
        const [dx, dy] = [event.clientX - grip.current.x, event.clientY - grip.current.y];
        grip.current = { x: event.clientX, y: event.clientY };
        setView((old) => ({ ...old, x: old.x - dx * scale, y: old.y - dy * scale }));
      }}
      onPointerUp={() => {
        grip.current = undefined;
      }}
    >
      {children}
    </svg>
  );
}
