import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFile, readLines, readText } from './archive-files.js';

let folder: string;
let root: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-folder-'));
  root = join(folder, 'export');
  mkdirSync(join(root, 'uploads'), { recursive: true });
});
afterEach(() => rmSync(folder, { recursive: true }));

it('findFile ignores links and files behind links', async () => {
  writeFileSync(join(folder, 'secret'), 'of the machine');
  writeFileSync(join(root, 'uploads', 'own'), 'of the export');
  symlinkSync(join(folder, 'secret'), join(root, 'uploads', 'link'));
  symlinkSync(folder, join(root, 'avatars'));
  symlinkSync(join(folder, 'secret'), join(root, 'realm.json'));
  expect(await findFile(root, join(root, 'uploads', 'own'))).toMatchObject({ size: 13 });
  for (const path of ['uploads/link', 'avatars/secret', 'uploads', 'uploads/none']) {
    expect([path, await findFile(root, join(root, path))]).toEqual([path, null]);
  }
  await expect(readText(root, 'realm.json')).rejects.toThrow('has no realm.json');
  await expect(readLines(root, 'realm.json').next()).rejects.toThrow('has no realm.json');
});

it('findFile finds files in a folder that is itself reached through a link', async () => {
  writeFileSync(join(root, 'realm.json'), '{}');
  symlinkSync(root, join(folder, 'current'));
  expect(await readText(join(folder, 'current'), 'realm.json')).toBe('{}');
});

it('readLines splits lines across chunk boundaries', async () => {
  const long = 'é'.repeat(100_000);
  writeFileSync(join(root, 'lines'), `a\n\n${long}\nb`);
  const lines: string[] = [];
  for await (const line of readLines(root, 'lines')) lines.push(line);
  expect(lines).toEqual(['a', '', long, 'b']);
  const read = readLines(root, 'lines', 99_999);
  expect((await read.next()).value).toBe('a');
  await read.next();
  await expect(read.next()).rejects.toThrow('has a line of more than 99999 characters');
});
