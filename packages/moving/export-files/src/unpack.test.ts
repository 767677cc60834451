import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';
import { DiskRoom, UNPACK_LIMITS, unpack } from './archive-files.js';

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
  ['a path that leads outside', { name: 'x/../../evil' }, 'x', /cannot be that of a file/],
  ['an absolute path', { name: '/etc/evil' }, 'x', /cannot be that of a file/],
  ['a path with backslashes', { name: '..\\evil' }, 'x', /cannot be that of a file/],
  ['a symbolic link', { name: 'a', type: 'symlink', linkname: '/etc/passwd' }, undefined, /is not a file/],
  ['a hard link', { name: 'a', type: 'link', linkname: '/etc/passwd' }, undefined, /is not a file/],
] as const)('unpack rejects %s and writes nothing', async (_, header, content, message) => {
  const path = await archiveOf([header as Header, content]);
  const target = mkdtempSync(join(folder, 'target-'));
  await expect(unpack(path, target)).rejects.toThrow(message);
  expect(readdirSync(target)).toEqual([]);
  expect(readdirSync(folder)).toHaveLength(2);
});

it('unpack rejects duplicate file names', async () => {
  const path = await archiveOf([{ name: 'a' }, '1'], [{ name: './a' }, '2']);
  await expect(unpack(path, mkdtempSync(join(folder, 'target-')))).rejects.toThrow(/damaged/);
});

it('unpack rejects a compressed archive that is cut anywhere', async () => {
  const entries = Array.from({ length: 12 }, (_, n): [Header, string] => [
    { name: `f/${n}.json` },
    Array.from({ length: 200 + 90 * n }, (_, at) => String.fromCharCode(32 + ((at * at * 31 + n * 7) % 90))).join(''),
  ]);
  const whole = gzipSync(readFileSync(await archiveOf(...entries)));
  const path = join(folder, 'cut.tar.gz');
  for (let length = 20; length < whole.length; length += 13) {
    await writeFile(path, whole.subarray(0, length));
    await expect(unpack(path, mkdtempSync(join(folder, 'target-')))).rejects.toThrow(/damaged/);
  }
});

it('unpack rejects metadata too large for memory', async () => {
  const path = await archiveOf([{ name: 'a', type: 'file', pax: { comment: 'x'.repeat(5_000_000) } }, '1']);
  await expect(unpack(path, mkdtempSync(join(folder, 'target-')))).rejects.toThrow('damaged: Header exceeds max size');
});

it('unpack rejects more bytes and files than the limits', async () => {
  const path = await archiveOf([{ name: 'a' }, 'x'.repeat(5000)], [{ name: 'b' }, 'y']);
  const target = () => mkdtempSync(join(folder, 'target-'));
  const limits = { maxBytes: 1_000_000, maxFiles: 10, minFreeBytes: 0 };
  await expect(unpack(path, target(), { ...limits, maxBytes: 2000 })).rejects.toThrow(/more than 2000 bytes/);
  await expect(unpack(path, target(), { ...limits, maxFiles: 1 })).rejects.toThrow(/more than 1 files/);
});

it('unpack rejects an archive that expands suspiciously before writing it as a whole', async () => {
  const path = join(folder, 'bomb.tar.gz');
  await writeFile(path, gzipSync(readFileSync(await archiveOf([{ name: 'a' }, '\0'.repeat(20_000_000)]))));
  const target = mkdtempSync(join(folder, 'target-'));
  await expect(unpack(path, target)).rejects.toThrow(/expands to more than 300 times its size/);
  expect(statSync(join(target, 'a')).size).toBeLessThan(10_000_000);
});

it('unpack accepts small archives of any ratio', async () => {
  const path = join(folder, 'small.tar.gz');
  await writeFile(path, gzipSync(readFileSync(await archiveOf([{ name: 'a' }, '\0'.repeat(1_000_000)]))));
  const target = mkdtempSync(join(folder, 'target-'));
  await unpack(path, target);
  expect(statSync(join(target, 'a')).size).toBe(1_000_000);
});

const MIB = 1024 ** 2;

describe('unpack with limited disk space', () => {
  const freed = (...looks: readonly number[]) => {
    const seen = [...looks];
    return async () => (seen.length > 1 ? seen.shift()! : seen[0]!) * MIB;
  };

  it('starts nothing that cannot fit', async () => {
    const path = await archiveOf([{ name: 'a' }, 'x'.repeat(3 * MIB)]);
    const target = mkdtempSync(join(folder, 'target-'));
    const room = new DiskRoom(target, 10 * MIB, freed(12));
    await expect(unpack(path, target, UNPACK_LIMITS, room)).rejects.toMatchObject({
      code: 'SERVER_BUSY',
      message: `Not enough space in ${target}: at least 14 MiB more are needed, 12 are free.`,
    });
    expect(readdirSync(target)).toEqual([]);
  });

  it('stops before using up the reserved space', async () => {
    const path = join(folder, 'given.tar.gz');
    const plain = await archiveOf([{ name: 'a' }, 'x'.repeat(60 * MIB)]);
    await writeFile(path, gzipSync(readFileSync(plain), { level: 0 }));
    const target = mkdtempSync(join(folder, 'target-'));
    const room = new DiskRoom(target, 10 * MIB, freed(100, 60, 20));
    await expect(unpack(path, target, UNPACK_LIMITS, room)).rejects.toMatchObject({ code: 'SERVER_BUSY' });
    expect(statSync(join(target, 'a')).size).toBeLessThan(40 * MIB);
  });

  it('unpacks data that leaves the reserve free', async () => {
    const path = await archiveOf([{ name: 'a' }, 'x'.repeat(40 * MIB)]);
    const target = mkdtempSync(join(folder, 'target-'));
    await unpack(path, target, UNPACK_LIMITS, new DiskRoom(target, 10 * MIB, freed(52, 36, 26)));
    expect(statSync(join(target, 'a')).size).toBe(40 * MIB);
  });

  it('queries the free space of the system', async () => {
    const refusal = expect.objectContaining({ code: 'SERVER_BUSY' });
    await expect(new DiskRoom(folder, Number.MAX_SAFE_INTEGER).require(0)).rejects.toEqual(refusal);
    await new DiskRoom(folder, 0).require(1);
  });
});
