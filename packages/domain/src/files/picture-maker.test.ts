import { FakeImageProcessor, FixedClock, fakeImage, MemoryBlobStore, SeededRandomness } from '@parley/testkit';
import { DomainError } from '../kernel/errors.js';
import type { RealmId, UserId } from '../kernel/ids.js';
import { PictureMaker } from './pictures.js';

const USER = { realmId: 2 as RealmId, userId: 1 as UserId };
const PNG = { width: 64, height: 64, fit: 'cover', format: 'png', maxFrames: 1 } as const;
const image = fakeImage({ format: 'gif', width: 10, height: 10, frames: 3 });

let blobs: MemoryBlobStore;
let maker: PictureMaker;
beforeEach(() => {
  blobs = new MemoryBlobStore(new FixedClock());
  maker = new PictureMaker(blobs, new FakeImageProcessor(), new SeededRandomness(1));
});

describe('PictureMaker', () => {
  it('stores pictures before running the work that names them', async () => {
    const targets = [{ ...PNG, format: 'gif', maxFrames: 9 } as const, PNG];
    const made = await maker.make(USER, image, targets, async (pictures) => {
      expect(await Promise.all(pictures.map(({ blob }) => blobs.sizeOf(blob)))).toEqual(
        pictures.map(({ size }) => size),
      );
      return pictures;
    });
    expect(made).toMatchObject([
      { format: 'gif', frames: 3 },
      { format: 'png', frames: 1 },
    ]);
    expect(made[0]!.blob).not.toBe(made[1]!.blob);
    expect(blobs.size).toBe(2);
  });

  it.each([
    ['removes pictures when the work is refused', new DomainError('NOT_PERMITTED', 'no'), 0],
    ['keeps pictures when a commit may have named them', new DomainError('STORAGE_UNAVAILABLE', 'no'), 2],
    ['keeps pictures when the work fails for an unknown reason', new Error('no'), 2],
  ])('%s', async (_, error, left) => {
    const failing = maker.make(USER, image, [PNG, PNG], async () => {
      throw error;
    });
    await expect(failing).rejects.toThrow('no');
    expect(blobs.size).toBe(left);
  });

  it('removes pictures and skips the work when a picture cannot be made', async () => {
    const work = jest.fn();
    const failing = maker.make(USER, image, [PNG, { ...PNG, maxFrames: 9 }], work);
    await expect(failing).rejects.toMatchObject({ code: 'UNKNOWN_ANIMATION_FORMAT' });
    expect([work.mock.calls.length, blobs.size]).toEqual([0, 0]);
  });

  it('passes an image error to the work, which throws it later', async () => {
    const refused = maker.makeAhead(USER, Buffer.from('no image'), [PNG], async (pictures) => {
      expect(pictures).toBeInstanceOf(DomainError);
      throw pictures;
    });
    await expect(refused).rejects.toMatchObject({ code: 'UNREADABLE_IMAGE' });
  });

  it('makes a picture from the previous one if the target requests it', async () => {
    const processor = new FakeImageProcessor();
    const resize = jest.spyOn(processor, 'resize');
    maker = new PictureMaker(blobs, processor, new SeededRandomness(1));
    const smaller = { ...PNG, width: 10, height: 10, isOfPrevious: true } as const;
    await maker.make(USER, image, [PNG, smaller], async () => {});
    expect(Buffer.from(resize.mock.calls[1]![0]).toString()).toBe('png 64x64x1');
  });
});
