import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FolderBlobStore, FolderPartialBlobStore } from '@parley/blobs';
import type { BlobKey } from '@parley/domain/files';
import { copyFiles, copyUploads } from './copy-files.js';

const keyOf = (digit: string) => digit.repeat(32) as BlobKey;
const A = { blob: keyOf('a'), size: 3 };
const B = { blob: keyOf('b'), size: 4 };

let folder: string;
let source: FolderBlobStore;
let target: FolderBlobStore;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-copy-'));
  source = new FolderBlobStore(join(folder, 'source'));
  target = new FolderBlobStore(join(folder, 'target'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function write(location: 'source' | 'target', { blob }: typeof A, content: string): void {
  mkdirSync(join(folder, location, blob.slice(0, 2)), { recursive: true });
  writeFileSync(pathOf(location, blob), content);
}
const pathOf = (location: string, blob: string) => join(folder, location, blob.slice(0, 2), blob);
const copy = () => copyFiles([A, B], { source, target });

describe('copyFiles', () => {
  it('copies what is not there yet and replaces a copy that differs', async () => {
    write('source', A, 'aaa');
    write('source', B, 'bbbb');
    write('target', A, 'xxx');
    expect(await copy()).toEqual({ copied: 2, present: 0, missing: [] });
    expect(readFileSync(pathOf('target', A.blob), 'utf8')).toBe('aaa');
    expect(await copy()).toEqual({ copied: 0, present: 2, missing: [] });
  });

  it('names files that are missing or have another size than in the database', async () => {
    write('source', B, 'bb');
    expect(await copy()).toEqual({ copied: 1, present: 0, missing: [A.blob, B.blob] });
  });

  it('names the file at which the disk is full, and continues with it', async () => {
    write('source', A, 'aaa');
    write('source', B, 'bbbb');
    const put = target.put.bind(target);
    target.put = async (key, content) => {
      if (key === B.blob) throw new Error('ENOSPC: no space left on device, write');
      return put(key, content);
    };
    await expect(copy()).rejects.toThrow(
      `Cannot copy the file ${B.blob}: ENOSPC: no space left on device, write. Run the command again to continue.`,
    );
    target.put = put;
    expect(await copy()).toEqual({ copied: 1, present: 1, missing: [] });
  });
});

it('copyUploads copies the received bytes of unfinished uploads, also over a part of them', async () => {
  const [from, to] = [source, target].map(
    (blobs, index) => new FolderPartialBlobStore(join(folder, `${index}`), blobs),
  );
  const bytes = async function* (text: string) {
    yield Buffer.from(text);
  };
  await from!.append(A.blob, 0, bytes('received'));
  await to!.append(A.blob, 0, bytes('rec'));
  expect(await copyUploads([A.blob, B.blob], { source: from!, target: to! })).toBe(1);
  expect(readFileSync(join(folder, '1', A.blob), 'utf8')).toBe('received');
});
