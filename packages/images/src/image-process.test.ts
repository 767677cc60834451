import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BuiltScript, blackPng, buildScript } from '@parley/testkit';
import { ImageProcess } from './image-process.js';

const TICK = { width: 64, height: 64, fit: 'cover', format: 'png', maxFrames: 1 } as const;
const domain = join(__dirname, '../../domain/src');

describe('a process for images', () => {
  let built: BuiltScript;
  let images: ImageProcess;
  beforeAll(() => {
    built = buildScript(join(__dirname, 'image-child.ts'), {
      '@parley/domain/images': join(domain, 'images/index.ts'),
      '@parley/domain/shared': join(domain, 'shared/index.ts'),
    });
  });
  afterAll(() => built.remove());
  beforeEach(() => {
    images = new ImageProcess(built.script);
  });
  afterEach(() => images.close());

  /** One that does something else. */
  const processOf = (name: string, script: string, patienceMs?: number) => {
    const path = join(built.script, '..', `${name}.cjs`);
    writeFileSync(path, script);
    images = new ImageProcess(path, patienceMs);
    return images;
  };

  it('answers one image after the other, and refuses as the library does', async () => {
    const answers = await Promise.allSettled([
      images.inspect(blackPng(30, 20)),
      images.resize(Buffer.from('no image'), TICK),
      images.resize(blackPng(30, 20), TICK),
      images.inspect(blackPng(10_000, 9001)),
    ]);
    expect(answers).toMatchObject([
      { value: { format: 'png', width: 30, height: 20, frames: 1 } },
      { reason: { code: 'UNREADABLE_IMAGE', message: 'Could not decode image; did you upload an image file?' } },
      { value: { format: 'png', width: 64, height: 64, frames: 1, bytes: expect.any(Uint8Array) } },
      { reason: { code: 'IMAGE_TOO_LARGE', message: 'Image size exceeds limit.' } },
    ]);
  });

  it('leaves the event loop alone', async () => {
    await images.inspect(blackPng(1, 1));
    let turns = 0;
    let isDone = false;
    const count = () => {
      turns++;
      if (!isDone) setImmediate(count);
    };
    count();
    await images.resize(blackPng(9000, 9000), TICK);
    isDone = true;
    // Without a process of its own the loop would stand still until it is done.
    expect(turns).toBeGreaterThan(5);
  });

  it('refuses an image that brings it down, and goes on with the next', async () => {
    processOf(
      'fragile',
      `process.on('message', ({ image }) => image[0] ? process.abort() : process.send({ result: 'fine' }));`,
    );
    const answers = [images.inspect(Buffer.of(0)), images.inspect(Buffer.of(1)), images.inspect(Buffer.of(0))];
    expect(await Promise.allSettled(answers)).toMatchObject([
      { value: 'fine' },
      { reason: { code: 'UNREADABLE_IMAGE' } },
      { value: 'fine' },
    ]);
  });

  it('refuses an image that takes too long, and goes on with the next', async () => {
    processOf(
      'slow',
      `process.on('message', ({ image }) => { while (image[0]); process.send({ result: 'fine' }); });`,
      2000,
    );
    const answers = [images.inspect(Buffer.of(1)), images.inspect(Buffer.of(0))];
    expect(await Promise.allSettled(answers)).toMatchObject([
      { reason: { code: 'IMAGE_TOO_LARGE' } },
      { value: 'fine' },
    ]);
  });

  it('is told no secret of the server', async () => {
    process.env.PARLEY_SECRET = 'a secret';
    processOf('curious', `process.on('message', () => process.send({ result: process.env }));`);
    expect(Object.keys(await images.inspect(Buffer.of(0)))).not.toContain('PARLEY_SECRET');
    delete process.env.PARLEY_SECRET;
  });

  it('takes no more than it has room for, and nothing when it is closed', async () => {
    processOf('idle', `process.on('message', () => {});`);
    const answers = Array.from({ length: 103 }, () => images.inspect(Buffer.of(0)));
    const outcomes = Promise.allSettled(answers);
    await expect(answers[102]).rejects.toMatchObject({ code: 'SERVER_BUSY', details: { retryAfter: 1 } });
    images.close();
    const codes = (await outcomes).map((outcome) => (outcome as PromiseRejectedResult).reason.code);
    expect(codes).toEqual(['UNREADABLE_IMAGE', ...Array.from({ length: 102 }, () => 'SERVER_BUSY')]);
    await expect(images.inspect(Buffer.of(0))).rejects.toMatchObject({ code: 'SERVER_BUSY' });
  });

  it('is done without where there is none', async () => {
    images = new ImageProcess(null);
    expect(await images.inspect(blackPng(3, 2))).toMatchObject({ width: 3, height: 2 });
    await expect(images.inspect(Buffer.of(0))).rejects.toMatchObject({ code: 'UNREADABLE_IMAGE' });
  });
});
