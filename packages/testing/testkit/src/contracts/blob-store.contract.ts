import type { BlobKey, BlobStore, ByteRange } from '@parley/domain/files';

/** `close` removes all blobs. */
export type OpenBlobStore = () => Promise<{ readonly store: BlobStore; close(): Promise<void> }>;

const key = (digits: string): BlobKey => digits.padEnd(32, '0') as BlobKey;

async function* chunks(...texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text);
}

async function textOf(store: BlobStore, of: BlobKey, range: ByteRange): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const part of store.read(of, range)) parts.push(part);
  return Buffer.concat(parts).toString();
}

/** Contract of blob stores. */
export function blobStoreContract(open: OpenBlobStore): void {
  describe('blob store', () => {
    let store: BlobStore;
    let close: () => Promise<void>;
    beforeEach(async () => {
      ({ store, close } = await open());
    });
    afterEach(() => close());

    it('stores content in chunks and reads any range', async () => {
      expect(await store.put(key('a1'), chunks('hello ', 'wörld'))).toBe(12);
      expect(await store.sizeOf(key('a1'))).toBe(12);
      expect(await textOf(store, key('a1'), { start: 0, end: 12 })).toBe('hello wörld');
      expect(await textOf(store, key('a1'), { start: 1, end: 5 })).toBe('ello');
      expect(await textOf(store, key('a1'), { start: 3, end: 3 })).toBe('');
    });

    it('stores empty content', async () => {
      expect(await store.put(key('a1'), chunks())).toBe(0);
      expect(await store.sizeOf(key('a1'))).toBe(0);
      expect(await textOf(store, key('a1'), { start: 0, end: 0 })).toBe('');
    });

    it('stores large content unchanged', async () => {
      const large = Buffer.alloc(300_000, 'abcdefg');
      await store.put(
        key('b2'),
        (async function* () {
          for (let at = 0; at < large.length; at += 70_000) yield large.subarray(at, at + 70_000);
        })(),
      );
      expect(await textOf(store, key('b2'), { start: 0, end: 300_000 })).toBe(large.toString());
      expect(await textOf(store, key('b2'), { start: 65_530, end: 65_545 })).toBe(
        large.subarray(65_530, 65_545).toString(),
      );
    });

    it('returns unchanged content when chunk buffers are reused', async () => {
      const large = Buffer.alloc(1_300_000);
      for (let at = 0; at < large.length; at += 4) large.writeUInt32LE(at, at);
      await store.put(
        key('b3'),
        (async function* () {
          yield large;
        })(),
      );
      const content = store.read(key('b3'), { start: 5, end: large.length - 3 });
      const copies: Buffer[] = [];
      for await (const piece of content) {
        copies.push(Buffer.from(piece));
        content.release?.(piece);
      }
      expect(Buffer.concat(copies).equals(large.subarray(5, -3))).toBe(true);
    });

    it('stores no aborted content', async () => {
      const broken = (async function* () {
        yield Buffer.from('half');
        throw new Error('gone');
      })();
      await expect(store.put(key('a1'), broken)).rejects.toThrow('gone');
      expect(await store.sizeOf(key('a1'))).toBeNull();
      expect(await store.list(null, 10)).toEqual([]);
    });

    it('finds nothing under unknown keys', async () => {
      expect(await store.sizeOf(key('a1'))).toBeNull();
      await expect(textOf(store, key('a1'), { start: 0, end: 1 })).rejects.toThrow();
      await store.remove(key('a1'));
    });

    it('removes blobs', async () => {
      await store.put(key('a1'), chunks('x'));
      await store.put(key('a2'), chunks('y'));
      await store.remove(key('a1'));
      expect(await store.sizeOf(key('a1'))).toBeNull();
      expect(await store.sizeOf(key('a2'))).toBe(1);
    });

    it('lists ascending keys in pages', async () => {
      for (const digits of ['b1', 'a2', 'a1', 'c1']) await store.put(key(digits), chunks(digits));
      const keysOf = async (after: BlobKey | null, limit: number) =>
        (await store.list(after, limit)).map((blob) => blob.key);
      expect(await keysOf(null, 3)).toEqual([key('a1'), key('a2'), key('b1')]);
      expect(await keysOf(key('a2'), 3)).toEqual([key('b1'), key('c1')]);
      expect(await keysOf(key('c1'), 3)).toEqual([]);
      for (const { storedAtMs } of await store.list(null, 9)) expect(storedAtMs).toBeGreaterThan(1e12);
    });
  });
}
