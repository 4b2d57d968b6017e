// Drawings in DOT, the language of Graphviz.
import type { Box, Cell, Drawing, Frame, Item } from './boxes.ts';
import type { Drawn } from './options.ts';

export function dotOf({ items, edges }: Drawing, name: string, { rankdir, dpi }: Drawn): string {
  const lines = [
    `digraph ${quoted(name)} {`,
    `  graph [rankdir=${rankdir}, concentrate=true, dpi=${dpi}, splines=ortho];`,
    '  node [shape=plain, fontname="Helvetica"];',
    ...items.flatMap((item) => itemLines(item, '  ')),
    ...edges.map(({ from, to }) => `  ${from} -> ${to};`),
    '}',
  ];
  return `${lines.join('\n')}\n`;
}

function itemLines(item: Item, indent: string): string[] {
  return item.kind === 'box' ? [`${indent}${item.id} [label=<${table(item)}>];`] : frameLines(item, indent);
}

function frameLines({ id, label, items }: Frame, indent: string): string[] {
  const inner = `${indent}  `;
  return [
    `${indent}subgraph cluster_${id} {`,
    `${inner}label=${quoted(label)}; labeljust=l; style=dashed; fontname="Helvetica";`,
    ...items.flatMap((item) => itemLines(item, inner)),
    `${indent}}`,
  ];
}

const quoted = (text: string): string => JSON.stringify(text);

/** @internal */
export const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

function table({ title, activation, cells }: Box): string {
  const span = Math.max(1, cells.length);
  const cell = ({ label, value, trainable }: Cell, columns: number): string => {
    const colour = trainable === undefined ? 'white' : trainable ? 'forestgreen' : 'firebrick';
    const text = `${escaped(label)}<b>${escaped(value)}</b>`;
    const inner = trainable === undefined ? text : `<font color="white">${text}</font>`;
    return `<td colspan="${columns}" bgcolor="${colour}">${inner}</td>`;
  };
  const head = `<font color="white"><b>${escaped(title.value)}</b>${escaped(title.label)}</font>`;
  const rows = [
    `<td colspan="${span}" bgcolor="black">${head}</td>`,
    ...(activation === undefined ? [] : [cell(activation, span)]),
    ...(cells.length === 0 ? [] : [cells.map((one) => cell(one, 1)).join('')]),
  ];
  return `<table border="0" cellborder="1" cellspacing="0" cellpadding="8">${rows.map((row) => `<tr>${row}</tr>`).join('')}</table>`;
}
