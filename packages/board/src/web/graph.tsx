import dagre from '@dagrejs/dagre';
import { Fragment } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { GraphAnswer, GraphNode } from '../api.ts';
import type { ViewProps } from './app.tsx';
import { type Area, Canvas } from './graph-canvas.tsx';
import { type Edge, outermost, type Unit, unitsOf } from './graph-units.ts';
import { address, useAnswer } from './server.ts';

// Drawing more boxes takes long and shows nothing.
const MOST_BOXES = 800;
const HEIGHT = 30;

/** The graph of a run: click on a scope to open it, on a node to read it; drag and turn the wheel to move about. */
export function GraphView({ runs }: ViewProps) {
  const choices = runs.flatMap((run) => run.graphs.map((tag) => ({ run: run.name, tag })));
  const [chosen, setChosen] = useState(0);
  const choice = choices[Math.min(chosen, choices.length - 1)];
  const { value, of, error } = useAnswer<GraphAnswer>(choice && address('graph', choice));
  const [part, setPart] = useState('');
  if (choice === undefined) return <p class="empty">The chosen runs have none; choose others at the side.</p>;
  const nodes = value?.functions.find((f) => f.name === part)?.nodes ?? value?.nodes;
  return (
    <section class="graph">
      <div class="tools">
        <label>
          Graph{' '}
          <select
            value={chosen}
            onChange={(event) => {
              setChosen(Number(event.currentTarget.value));
              setPart('');
            }}
          >
            {choices.map(({ run, tag }, i) => (
              <option key={`${run} ${tag}`} value={i}>
                {tag === 'graph' ? run : `${run}: ${tag}`}
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
      {nodes !== undefined && <Drawing key={`${of} ${part}`} nodes={nodes} />}
    </section>
  );
}

function Drawing({ nodes }: { readonly nodes: readonly GraphNode[] }) {
  const [open, setOpen] = useState<ReadonlySet<string>>(() => outermost(nodes));
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
      <Canvas area={layout.area}>
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
            tabindex={0}
            class={`box${unit.node === null ? ' scope' : ''}${unit.id === selected?.name ? ' selected' : ''}`}
            aria-label={unit.node === null ? `open ${unit.id}` : unit.id}
            onClick={() => pick(unit)}
            onKeyDown={(event) => {
              if (event.key !== 'Enter' && event.key !== ' ') return;
              event.preventDefault();
              pick(unit);
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
          {nodes.length} node{nodes.length === 1 ? '' : 's'}; blue boxes open.{' '}
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
              <Fragment key={name}>
                <dt>{name}</dt>
                <dd>{value}</dd>
              </Fragment>
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
  const boxes = units.map((unit) => ({ unit, ...graph.node(unit.id) }));
  const lines = edges.map((edge) => {
    const points: readonly Point[] = graph.edge(edge.from, edge.to, String(edge.control)).points;
    return { edge, points };
  });
  return {
    area: areaOf(boxes, lines),
    boxes,
    edges: lines.map(({ edge, points }) => ({ edge, path: curve(points) })),
  };
}

interface Point {
  readonly x: number;
  readonly y: number;
}

const MARGIN = 12;

/** What is taken by boxes and lines; these may leave the area that the layout says. */
function areaOf(
  boxes: readonly (Point & { readonly width: number })[],
  lines: readonly { readonly points: readonly Point[] }[],
): Area {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  const take = (x: number, y: number): void => {
    [left, top] = [Math.min(left, x), Math.min(top, y)];
    [right, bottom] = [Math.max(right, x), Math.max(bottom, y)];
  };
  for (const { x, y, width } of boxes) {
    take(x - width / 2, y - HEIGHT / 2);
    take(x + width / 2, y + HEIGHT / 2);
  }
  for (const { points } of lines) for (const { x, y } of points) take(x, y);
  if (left > right) [left, top, right, bottom] = [0, 0, 1, 1];
  const [width, height] = [right - left + 2 * MARGIN, bottom - top + 2 * MARGIN];
  return { x: left - MARGIN, y: top - MARGIN, width, height };
}

/** A line that turns softly at each point but the ends. */
function curve(points: readonly Point[]): string {
  const at = ({ x, y }: Point): string => `${x.toFixed(1)} ${y.toFixed(1)}`;
  const middle = (a: Point, b: Point): Point => ({ x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 });
  let path = '';
  points.forEach((point, i) => {
    const next = points[i + 1];
    if (i === 0) path = `M${at(point)}`;
    else if (next === undefined) path += `L${at(point)}`;
    else path += `Q${at(point)} ${at(middle(point, next))}`;
  });
  return path;
}
