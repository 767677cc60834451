import { createReadStream, type Stats } from 'node:fs';
import { lstat, readFile, realpath } from 'node:fs/promises';
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

/** Null: there is none, or it is a link or behind one, which may lead to files that are nobody's to import. */
export async function findFile(root: string, path: string): Promise<Stats | null> {
  const found = await lstat(path).catch(() => null);
  if (!found?.isFile()) return null;
  const isInside = (await realpath(path)) === join(await realpath(root), path.slice(root.length));
  return isInside ? found : null;
}

/** One after the other. @throws DomainError INVALID_IMPORT where one is too long, or there is no such file */
export async function* readLines(root: string, name: string, maxLength = MAX_DOCUMENT_BYTES): AsyncGenerator<string> {
  const path = join(root, name);
  if (!(await findFile(root, path))) throw wrong('The export', `has no ${name}`);
  let pending = '';
  for await (const chunk of createReadStream(path, { encoding: 'utf8' }) as AsyncIterable<string>) {
    const [first, ...others] = chunk.split('\n');
    if (pending.length + first!.length > maxLength) {
      throw wrong(name, `has a line of more than ${maxLength} characters`);
    }
    pending += first;
    for (const next of others) {
      yield pending;
      pending = next;
    }
  }
  yield pending;
}

export async function readDocument(root: string, name: string): Promise<unknown> {
  return parseJson(await readText(root, name), name);
}

export async function readText(root: string, name: string): Promise<string> {
  const path = join(root, name);
  const found = await findFile(root, path);
  if (!found) throw wrong('The export', `has no ${name}`);
  if (found.size > MAX_DOCUMENT_BYTES) throw wrong(name, `has more than ${MAX_DOCUMENT_BYTES} bytes`);
  return readFile(path, 'utf8');
}
