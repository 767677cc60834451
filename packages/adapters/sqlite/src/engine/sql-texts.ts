import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';

const manifest = createRequire(import.meta.url).resolve('../../package.json');
const sources = join(dirname(manifest), 'src');

/**
 * Texts of all `.sql` files by file name. Bundles contain the texts instead of this module (scripts/inline-sql.mjs).
 */
export const SQL_TEXTS: Readonly<Record<string, string>> = Object.fromEntries(
  readdirSync(sources, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.sql'))
    .map((path) => [basename(path), readFileSync(join(sources, path), 'utf8')]),
);
