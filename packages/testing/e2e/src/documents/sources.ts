import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';

export interface Source {
  /** Path below `packages/<layer>/src`, without `.ts`. */
  readonly file: string;
  readonly text: string;
}

/** Sources of a layer without tests, by path. */
export const sourcesOf = (packages: string, layer: string): readonly Source[] =>
  readdirSync(resolve(packages, layer, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
    .sort()
    .map((path) => ({
      file: path.slice(0, -'.ts'.length),
      text: readFileSync(resolve(packages, layer, 'src', path), 'utf8'),
    }));
