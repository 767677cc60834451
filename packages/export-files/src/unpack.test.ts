import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pack } from 'tar-stream';
import { unpack } from './unpack.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-unpack-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

type Header = Parameters<ReturnType<typeof pack>['entry']>[0];

async function archiveOf(
  ...entries: readonly (readonly [header: Header, content?: string | undefined])[]
): Promise<string> {
  const archive = pack();
  for (const [header, content] of entries) {
    if (content === undefined) archive.entry(header);
    else archive.entry(header, content);
  }
  archive.finalize();
  const path = join(folder, 'given.tar');
  await writeFile(path, archive as unknown as AsyncIterable<Uint8Array>);
  return path;
}

it.each([
  ['a path that leads out', { name: 'x/../../evil' }, 'x', /cannot be that of a file/],
  ['an absolute path', { name: '/etc/evil' }, 'x', /cannot be that of a file/],
  ['a path with backslashes', { name: '..\\evil' }, 'x', /cannot be that of a file/],
  ['a symbolic link', { name: 'a', type: 'symlink', linkname: '/etc/passwd' }, undefined, /is no file/],
  ['a hard link', { name: 'a', type: 'link', linkname: '/etc/passwd' }, undefined, /is no file/],
] as const)('refuses %s, and writes nothing', async (_, header, content, message) => {
  const path = await archiveOf([header as Header, content]);
  const target = mkdtempSync(join(folder, 'target-'));
  await expect(unpack(path, target)).rejects.toThrow(message);
  expect(readdirSync(target)).toEqual([]);
  expect(readdirSync(folder)).toHaveLength(2);
});

it('refuses a second file of the same name', async () => {
  const path = await archiveOf([{ name: 'a' }, '1'], [{ name: './a' }, '2']);
  await expect(unpack(path, mkdtempSync(join(folder, 'target-')))).rejects.toThrow(/damaged/);
});

it('refuses what is said of a file at greater length than memory should hold', async () => {
  const path = await archiveOf([{ name: 'a', type: 'file', pax: { comment: 'x'.repeat(5_000_000) } }, '1']);
  await expect(unpack(path, mkdtempSync(join(folder, 'target-')))).rejects.toThrow('damaged: Header exceeds max size');
});

it('refuses more bytes, and more files, than the limits', async () => {
  const path = await archiveOf([{ name: 'a' }, 'x'.repeat(5000)], [{ name: 'b' }, 'y']);
  const target = () => mkdtempSync(join(folder, 'target-'));
  await expect(unpack(path, target(), { maxBytes: 2000, maxFiles: 10 })).rejects.toThrow(/more than 2000 bytes/);
  await expect(unpack(path, target(), { maxBytes: 1_000_000, maxFiles: 1 })).rejects.toThrow(/more than 1 files/);
});
