import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';

export interface Source {
  /** Path below the `src` of its package, without `.ts`. */
  readonly file: string;
  readonly text: string;
}

/** Sources of a package in the folder `packages`, such as `adapters/http`, without tests, by path. */
export const sourcesOf = (packages: string, folder: string): readonly Source[] =>
  readdirSync(resolve(packages, folder, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
    .sort()
    .map((path) => ({
      file: path.slice(0, -'.ts'.length),
      text: readFileSync(resolve(packages, folder, 'src', path), 'utf8'),
    }));
