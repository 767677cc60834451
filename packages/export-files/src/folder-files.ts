import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { parseJson, wrong } from './shape.js';

/** Of one document, which is read as a whole. Longer than a text of JavaScript can be it is never. */
const MAX_DOCUMENT_BYTES = 500 * 1024 ** 2;

/** Never outside of the folder. @throws DomainError INVALID_IMPORT */
export function pathIn(root: string, folder: string, path: string): string {
  const segments = path.split('/');
  const isBad =
    segments.some((segment) => segment === '' || segment === '.' || segment === '..') || /[\\\0]/.test(path);
  if (isBad) throw wrong(`The path '${path}'`, 'cannot be that of a file');
  return join(root, folder, ...segments);
}

export async function readDocument(root: string, name: string): Promise<unknown> {
  return parseJson(await readText(root, name), name);
}

export async function readText(root: string, name: string): Promise<string> {
  const path = join(root, name);
  const found = await stat(path).catch(() => null);
  if (!found?.isFile()) throw wrong('The export', `has no ${name}`);
  if (found.size > MAX_DOCUMENT_BYTES) throw wrong(name, `has more than ${MAX_DOCUMENT_BYTES} bytes`);
  return readFile(path, 'utf8');
}
