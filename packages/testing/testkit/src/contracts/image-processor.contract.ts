import type { ImageFormat, ImageInfo, ImageProcessor, ImageTarget } from '@parley/domain/files';
import type { RealmId, UserId, WorkOwner } from '@parley/domain/kernel';

const USER: WorkOwner = { realmId: 2 as RealmId, userId: 1 as UserId };

export interface ImageSample extends ImageInfo {
  /** `end`: truncated; `frame`: unreadable last frame. */
  readonly damage?: 'end' | 'frame';
}

/** `make` creates an image of the processor's own kind. */
export type OpenImageProcessor = () => Promise<{
  readonly processor: ImageProcessor;
  make(sample: ImageSample): Promise<Uint8Array>;
}>;

const STILL: ImageTarget = { width: 64, height: 64, fit: 'cover', format: 'png', maxFrames: 1 };
const still = (format: ImageFormat, width = 40, height = 20): ImageSample => ({ format, width, height, frames: 1 });
const animation = (format: ImageFormat): ImageSample => ({ format, width: 40, height: 20, frames: 3 });

/** Contract of image processors. */
export function imageProcessorContract(open: OpenImageProcessor): void {
  describe('image processor', () => {
    let processor: ImageProcessor;
    let make: (sample: ImageSample) => Promise<Uint8Array>;
    beforeAll(async () => {
      ({ processor, make } = await open());
    });

    it.each(['png', 'jpeg', 'gif', 'webp', 'avif', 'heic', 'tiff'] as const)('detects %s', async (format) =>
      expect(await processor.inspect(await make(still(format)), USER)).toEqual(still(format)),
    );

    it.each(['gif', 'webp'] as const)('counts the frames of %s', async (format) =>
      expect(await processor.inspect(await make(animation(format)), USER)).toEqual(animation(format)),
    );

    it.each`
      fit          | of            | to            | becomes
      ${'cover'}   | ${[40, 20]}   | ${[64, 64]}   | ${[64, 64]}
      ${'cover'}   | ${[300, 500]} | ${[100, 100]} | ${[100, 100]}
      ${'contain'} | ${[40, 20]}   | ${[64, 64]}   | ${[64, 64]}
      ${'inside'}  | ${[40, 20]}   | ${[64, 64]}   | ${[40, 20]}
      ${'inside'}  | ${[400, 200]} | ${[64, 64]}   | ${[64, 32]}
      ${'inside'}  | ${[200, 400]} | ${[800, 100]} | ${[50, 100]}
    `('resizes $of to $to ($fit) as $becomes', async ({ fit, of, to, becomes }) => {
      const image = await make(still('png', of[0], of[1]));
      const made = await processor.resize(image, { ...STILL, fit, width: to[0], height: to[1] }, USER);
      expect([made.width, made.height]).toEqual(becomes);
      expect(await processor.inspect(made.bytes, USER)).toEqual(still('png', becomes[0], becomes[1]));
    });

    it.each([
      ['png', 'webp'],
      ['jpeg', 'png'],
      ['tiff', 'webp'],
      ['avif', 'png'],
      ['heic', 'webp'],
      ['webp', 'gif'],
    ] as const)('converts %s to %s', async (from, format) => {
      const made = await processor.resize(await make(still(from)), { ...STILL, format }, USER);
      expect(made).toMatchObject({ format, width: 64, height: 64, frames: 1 });
      expect(await processor.inspect(made.bytes, USER)).toEqual(still(format, 64, 64));
    });

    describe.each(['gif', 'webp'] as const)('image processor with animated images in %s', (format) => {
      it('keeps the requested number of frames', async () => {
        const image = await make(animation(format));
        for (const [maxFrames, frames] of [
          [100, 3],
          [2, 2],
          [1, 1],
        ] as const) {
          const made = await processor.resize(image, { ...STILL, fit: 'contain', format, maxFrames }, USER);
          expect(made).toMatchObject({ format, width: 64, height: 64, frames });
          expect(await processor.inspect(made.bytes, USER)).toEqual({ format, width: 64, height: 64, frames });
        }
      });

      it('converts to a still image', async () =>
        expect(await processor.resize(await make(animation(format)), STILL, USER)).toMatchObject({
          format: 'png',
          frames: 1,
        }));

      it('rejects conversion to a format without animation', async () =>
        expect(processor.resize(await make(animation(format)), { ...STILL, maxFrames: 9 }, USER)).rejects.toMatchObject(
          {
            code: 'UNKNOWN_ANIMATION_FORMAT',
          },
        ));
    });

    it('distinguishes damaged animations from files of other types', async () => {
      const damaged = await make({ ...animation('webp'), damage: 'frame' });
      await expect(processor.resize(damaged, { ...STILL, format: 'webp', maxFrames: 9 }, USER)).rejects.toMatchObject({
        code: 'CORRUPT_ANIMATION',
        message: 'Corrupt animated image.',
      });
    });

    it('rejects the pages of a document as animation', async () =>
      expect(
        processor.resize(await make(animation('tiff')), { ...STILL, format: 'gif', maxFrames: 9 }, USER),
      ).rejects.toMatchObject({ code: 'UNKNOWN_ANIMATION_FORMAT', message: 'Unknown animated image format.' }));

    it.each(['png', 'jpeg', 'webp'] as const)('rejects half of a %s', async (format) =>
      expect(
        processor.resize(await make({ ...still(format, 300, 300), damage: 'end' }), STILL, USER),
      ).rejects.toMatchObject({
        code: 'UNREADABLE_IMAGE',
      }),
    );

    it.each([
      ['nothing', ''],
      ['text', 'hello'],
      ['a program', '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>alert(1)</script></svg>'],
      ['a page', '<!doctype html><script>alert(1)</script>'],
      ['a PDF', '%PDF-1.4\n%âãÏÓ\n'],
    ])('rejects %s', async (_what, text) => {
      const refusal = {
        code: 'UNREADABLE_IMAGE',
        message: 'Could not decode image; did you upload an image file?',
      };
      await expect(processor.inspect(Buffer.from(text), USER)).rejects.toMatchObject(refusal);
      await expect(processor.resize(Buffer.from(text), STILL, USER)).rejects.toMatchObject(refusal);
    });

    it.each([
      ['pixels', still('png', 10_000, 9001)],
      ['pixels at once', still('webp', 6000, 5001)],
    ])('rejects too many %s', async (_what, sample) => {
      const image = await make(sample);
      const refusal = { code: 'IMAGE_TOO_LARGE', message: 'Image size exceeds limit.' };
      await expect(processor.inspect(image, USER)).rejects.toMatchObject(refusal);
      await expect(processor.resize(image, STILL, USER)).rejects.toMatchObject(refusal);
    });
  });
}
