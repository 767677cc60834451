import type { BlobKey, BlobStore, PartialBlobStore } from '@parley/domain/files';

/** `close` removes all partial blobs. */
export type OpenPartialBlobStore = () => Promise<{
  readonly partials: PartialBlobStore;
  readonly blobs: BlobStore;
  close(): Promise<void>;
}>;

const key = (digits: string): BlobKey => digits.padEnd(32, '0') as BlobKey;
const ONE = key('a1');

async function* chunks(...texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text);
}

/** Contract of partial blob stores. */
export function partialBlobStoreContract(open: OpenPartialBlobStore): void {
  describe('partial blob store', () => {
    let partials: PartialBlobStore;
    let blobs: BlobStore;
    let close: () => Promise<void>;
    beforeEach(async () => {
      ({ partials, blobs, close } = await open());
    });
    afterEach(() => close());

    async function textOf(of: BlobKey): Promise<string> {
      const parts: Uint8Array[] = [];
      const end = (await blobs.sizeOf(of))!;
      for await (const part of blobs.read(of, { start: 0, end })) parts.push(part);
      return Buffer.concat(parts).toString();
    }

    it('appends bytes and completes the blob', async () => {
      expect(await partials.sizeOf(ONE)).toBe(0);
      expect(await partials.append(ONE, 0, chunks('hello ', 'wö'))).toBe(9);
      expect(await partials.append(ONE, 9, chunks())).toBe(9);
      expect(await partials.append(ONE, 9, chunks('rld'))).toBe(12);
      expect(await partials.sizeOf(ONE)).toBe(12);
      expect(await blobs.sizeOf(ONE)).toBeNull();
      await partials.finish(ONE);
      expect([await partials.sizeOf(ONE), await textOf(ONE)]).toEqual([0, 'hello wörld']);
      await partials.finish(ONE);
      expect(await textOf(ONE)).toBe('hello wörld');
    });

    it('completes a blob once if several requests do so at the same time', async () => {
      await partials.append(ONE, 0, chunks('all of it'));
      await Promise.all(Array.from({ length: 10 }, () => partials.finish(ONE)));
      expect([await partials.sizeOf(ONE), await textOf(ONE)]).toEqual([0, 'all of it']);
    });

    it('completes an empty blob', async () => {
      await partials.finish(ONE);
      expect(await blobs.sizeOf(ONE)).toBe(0);
    });

    it('keeps the received part of aborted content', async () => {
      const broken = (async function* () {
        yield Buffer.from('half');
        throw new Error('gone');
      })();
      await expect(partials.append(ONE, 0, broken)).rejects.toThrow('gone');
      expect(await partials.sizeOf(ONE)).toBe(4);
      expect(await partials.append(ONE, 4, chunks('way'))).toBe(7);
    });

    it('rejects bytes that would leave a gap or overwrite others', async () => {
      const conflict = { code: 'UPLOAD_CONFLICT' };
      await expect(partials.append(ONE, 1, chunks('x'))).rejects.toMatchObject(conflict);
      await partials.append(ONE, 0, chunks('abc'));
      for (const offset of [0, 2, 4]) {
        await expect(partials.append(ONE, offset, chunks('x'))).rejects.toMatchObject(conflict);
      }
      expect(await partials.sizeOf(ONE)).toBe(3);
    });

    it('lists and removes partial blobs', async () => {
      for (const digits of ['b1', 'a1', 'a2']) await partials.append(key(digits), 0, chunks(digits));
      const keysOf = async (after: BlobKey | null, limit: number) =>
        (await partials.list(after, limit)).map((blob) => blob.key);
      expect(await keysOf(null, 2)).toEqual([key('a1'), key('a2')]);
      expect(await keysOf(key('a2'), 2)).toEqual([key('b1')]);
      for (const { storedAtMs } of await partials.list(null, 9)) expect(storedAtMs).toBeGreaterThan(1e12);
      await partials.remove(ONE);
      await partials.remove(ONE);
      expect(await partials.sizeOf(ONE)).toBe(0);
      expect(await keysOf(null, 9)).toEqual([key('a2'), key('b1')]);
      expect(await blobs.list(null, 9)).toEqual([]);
    });
  });
}
