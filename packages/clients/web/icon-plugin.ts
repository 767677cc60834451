import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Plugin } from 'vite';
import type { IconData } from './src/kit/icon.js';

const src = (file: string) => join(import.meta.dirname, 'src/kit', file);

/** Names of the icons that right-to-left languages mirror. */
const MIRRORED: ReadonlySet<string> = new Set(
  [...readFileSync(src('kit.module.css'), 'utf8').matchAll(/\.lucide-([\w-]+)/g)].map(([, name]) => name!),
);

/** Takes only the shapes from the icon library, most of them as one path, and draws them by `src/kit/icon.ts`. */
export const icons: Plugin = {
  name: 'icons',
  enforce: 'pre',
  resolveId: {
    filter: { id: /\/createLucideIcon\.mjs$/ },
    handler: () => src('icon.ts'),
  },
  transform: {
    filter: { id: /lucide-react\/dist\/esm\/icons\// },
    handler: (code) => ({
      code: code.replace(/const __iconData = (\{[\s\S]*?\n\});/, (_, data) => {
        const { name, node } = new Function(`return ${data}`)() as IconData;
        const icon = { name: MIRRORED.has(name) ? `lucide-${name}` : '', node: withOnePath(node) };
        return `const __iconData = ${JSON.stringify(icon)};`;
      }),
      map: null,
    }),
  },
};

type Shape = IconData['node'][number];

function withOnePath(shapes: readonly Shape[]): readonly Shape[] {
  const paths = shapes.map(pathOf);
  const d = paths.map((path) => path?.replace(/^m/, 'M0 0m') ?? '').join('');
  const others = shapes
    .filter((_, index) => paths[index] === null)
    // React keys, which no list needs.
    .map(([tag, { key: _, ...attributes }]): Shape => [tag, attributes]);
  return [...(d === '' ? [] : [['path', { d }] as const]), ...others];
}

/** Path data of a shape; null for rare ones. */
function pathOf([tag, shape]: Shape): string | null {
  const { d, x1, y1, x2, y2, fill } = shape;
  const [cx, cy, r, x, y, width, height] = ['cx', 'cy', 'r', 'x', 'y', 'width', 'height'].map((it) =>
    Number(shape[it]),
  );
  const rx = Number(shape.rx ?? 0);
  if (tag === 'path') return d!;
  if (tag === 'line') return `M${x1} ${y1}L${x2} ${y2}`;
  if (tag === 'circle' && fill === undefined)
    return `M${cx! - r!} ${cy}a${r} ${r} 0 1 0 ${2 * r!} 0a${r} ${r} 0 1 0 ${-2 * r!} 0z`;
  if (tag !== 'rect') return null;
  const corner = (toX: number, toY: number) => (rx === 0 ? '' : `a${rx} ${rx} 0 0 1 ${toX} ${toY}`);
  const [across, down] = [width! - 2 * rx, height! - 2 * rx];
  const [top, end] = [`M${x! + rx} ${y}h${across}${corner(rx, rx)}`, `v${down}${corner(-rx, rx)}`];
  return `${top}${end}h${-across}${corner(-rx, -rx)}v${-down}${corner(rx, -rx)}z`;
}
