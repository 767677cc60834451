#!/usr/bin/env node
// Writes src/icons/icons.ts: the icons of Lucide that the sources import. Run after an import of another icon, and after an update
// of lucide-react, a tool of packages/testing.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const web = join(dirname(fileURLToPath(import.meta.url)), '..');
const kit = join(web, 'src/kit');
const lucide = join(web, '../../testing/node_modules/lucide-react');
const { version } = JSON.parse(readFileSync(join(lucide, 'package.json'), 'utf8'));

/** Names of the icons that right-to-left languages mirror. */
const MIRRORED = new Set(
  [...readFileSync(join(kit, 'kit.module.css'), 'utf8').matchAll(/\.lucide-([\w-]+)/g)].map(([, name]) => name),
);

const lines = await Promise.all(importedNames().map(lineOf));
writeFileSync(
  join(web, 'src/icons/icons.ts'),
  `// Lucide ${version} (licences/lucide.txt). Written by scripts/write-icons.mjs.
import { createIcon } from './icon.js';

${lines.join('\n')}
`,
);
const licence = readFileSync(join(lucide, 'LICENSE'), 'utf8').trim();
writeFileSync(join(web, 'licences/lucide.txt'), `lucide ${version}\n\n${licence}\n`);

function importedNames() {
  const files = ['src', 'gallery'].flatMap((folder) =>
    readdirSync(join(web, folder), { recursive: true }).map((name) => join(web, folder, name)),
  );
  const lists = files
    .filter((name) => name.endsWith('.tsx') || name.endsWith('.ts'))
    .flatMap((name) => [...readFileSync(name, 'utf8').matchAll(/import \{([^}]+)\} from '[./\w]+\/icons\.js';/g)]);
  const names = lists.flatMap(([, list]) => list.split(',').map((each) => each.trim().split(' as ')[0]));
  return [...new Set(names)].filter(Boolean).sort();
}

async function lineOf(name) {
  const index = readFileSync(join(lucide, 'dist/esm/lucide-react.mjs'), 'utf8');
  const path = new RegExp(`\\bdefault as ${name}\\b[^}]*\\} from '(\\./icons/[^']+)'`).exec(index)?.[1];
  if (path === undefined) throw new Error(`Lucide has no icon ${name}`);
  const { __iconData: icon } = await import(pathToFileURL(join(lucide, 'dist/esm', path)).href);
  const data = { name: MIRRORED.has(icon.name) ? `lucide-${icon.name}` : '', node: withOnePath(icon.node) };
  return `export const ${name} = /* @__PURE__ */ createIcon(${JSON.stringify(data)});`;
}

/** Draws most shapes as one path. */
function withOnePath(shapes) {
  const paths = shapes.map(pathOf);
  const d = paths.map((path) => path?.replace(/^m/, 'M0 0m') ?? '').join('');
  const others = shapes
    .filter((_, index) => paths[index] === null)
    // React keys, which no list needs.
    .map(([tag, { key: _, ...attributes }]) => [tag, attributes]);
  return [...(d === '' ? [] : [['path', { d }]]), ...others];
}

/** Path data of a shape; null for rare ones. */
function pathOf([tag, shape]) {
  const { d, x1, y1, x2, y2, fill } = shape;
  const [cx, cy, r, x, y, width, height] = ['cx', 'cy', 'r', 'x', 'y', 'width', 'height'].map((it) =>
    Number(shape[it]),
  );
  const rx = Number(shape.rx ?? 0);
  if (tag === 'path') return d;
  if (tag === 'line') return `M${x1} ${y1}L${x2} ${y2}`;
  if (tag === 'circle' && fill === undefined)
    return `M${cx - r} ${cy}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`;
  if (tag !== 'rect') return null;
  const corner = (toX, toY) => (rx === 0 ? '' : `a${rx} ${rx} 0 0 1 ${toX} ${toY}`);
  const [across, down] = [width - 2 * rx, height - 2 * rx];
  const [top, end] = [`M${x + rx} ${y}h${across}${corner(rx, rx)}`, `v${down}${corner(-rx, rx)}`];
  return `${top}${end}h${-across}${corner(-rx, -rx)}v${-down}${corner(rx, -rx)}z`;
}
