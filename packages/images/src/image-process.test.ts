import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { UserId } from '@parley/domain/kernel';
import { type BuiltScript, blackPng, buildScript, HEIC_PHOTO } from '@parley/testkit';
import { ImageProcess } from './image-process.js';

const USER = 1 as UserId;
const TICK = { width: 64, height: 64, fit: 'cover', format: 'png', maxFrames: 1 } as const;
/** Starting a process takes long where others have the cores. */
const PATIENCE_MS = 100_000;
const domain = join(__dirname, '../../domain/src');

describe('a process for images', () => {
  let built: BuiltScript;
  let images: ImageProcess;
  beforeAll(() => {
    built = buildScript(join(__dirname, 'image-child.ts'), {
      '@parley/domain/files': join(domain, 'images/index.ts'),
      '@parley/domain/kernel': join(domain, 'shared/index.ts'),
    });
  });
  afterAll(() => built.remove());
  beforeEach(() => {
    images = new ImageProcess(built.script, PATIENCE_MS);
  });
  afterEach(() => images.close());

  /** One that does something else. */
  const processOf = (name: string, script: string, patienceMs = PATIENCE_MS) => {
    const path = join(built.script, '..', `${name}.cjs`);
    writeFileSync(path, script);
    images = new ImageProcess(path, patienceMs);
    return images;
  };

  it('answers one image after the other, and refuses as the library does', async () => {
    const answers = await Promise.allSettled([
      images.inspect(blackPng(30, 20), USER),
      images.resize(Buffer.from('no image'), TICK, USER),
      images.resize(blackPng(30, 20), TICK, USER),
      images.inspect(blackPng(10_000, 9001), USER),
      images.resize(HEIC_PHOTO, TICK, USER),
    ]);
    expect(answers).toMatchObject([
      { value: { format: 'png', width: 30, height: 20, frames: 1 } },
      { reason: { code: 'UNREADABLE_IMAGE', message: 'Could not decode image; did you upload an image file?' } },
      { value: { format: 'png', width: 64, height: 64, frames: 1, bytes: expect.any(Uint8Array) } },
      { reason: { code: 'IMAGE_TOO_LARGE', message: 'Image size exceeds limit.' } },
      { value: { format: 'png', width: 64, height: 64, frames: 1, bytes: expect.any(Uint8Array) } },
    ]);
  });

  it('leaves the event loop alone', async () => {
    await images.inspect(blackPng(1, 1), USER);
    let turns = 0;
    let isDone = false;
    const count = () => {
      turns++;
      if (!isDone) setImmediate(count);
    };
    count();
    await images.resize(blackPng(9000, 9000), TICK, USER);
    isDone = true;
    // Without a process of its own the loop would stand still until it is done.
    expect(turns).toBeGreaterThan(5);
  });

  it('refuses an image that brings it down, and goes on with the next', async () => {
    processOf(
      'fragile',
      `process.on('message', ({ image }) => image[0] ? process.abort() : process.send({ result: 'fine' }));`,
    );
    const answers = [
      images.inspect(Buffer.of(0), USER),
      images.inspect(Buffer.of(1), USER),
      images.inspect(Buffer.of(0), USER),
    ];
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
      5000,
    );
    const answers = [images.inspect(Buffer.of(1), USER), images.inspect(Buffer.of(0), USER)];
    expect(await Promise.allSettled(answers)).toMatchObject([
      { reason: { code: 'IMAGE_TOO_LARGE' } },
      { value: 'fine' },
    ]);
  });

  it('gets no secret of the server', async () => {
    process.env.PARLEY_SECRET = 'a secret';
    processOf('curious', `process.on('message', () => process.send({ result: process.env }));`);
    expect(Object.keys(await images.inspect(Buffer.of(0), USER))).not.toContain('PARLEY_SECRET');
    delete process.env.PARLEY_SECRET;
  });

  it('takes no more than it has room for, and nothing when it is closed', async () => {
    processOf('idle', `process.on('message', () => {});`);
    const ask = (user: number) => images.inspect(Buffer.of(0), user as UserId);
    // One that is worked on, and all that may wait, of one user and of all.
    const answers = Array.from({ length: 101 }, (_, n) => ask(n % 5));
    const outcomes = Promise.allSettled(answers);
    const busy = { code: 'SERVER_BUSY', details: { retryAfter: 1 } };
    await expect(ask(9)).rejects.toMatchObject(busy);
    images.close();
    const codes = (await outcomes).map((outcome) => (outcome as PromiseRejectedResult).reason.code);
    expect(codes).toEqual(['UNREADABLE_IMAGE', ...Array.from({ length: 100 }, () => 'SERVER_BUSY')]);
    await expect(ask(9)).rejects.toMatchObject(busy);
  });

  it('takes twenty of one user, and no more bytes than they have a share of, while others may still send theirs', async () => {
    processOf('idle', `process.on('message', () => {});`);
    const ask = (user: number, bytes: number) => images.inspect(Buffer.alloc(bytes), user as UserId);
    const MIB = 1024 * 1024;
    const asked = [
      ask(1, 1),
      ...Array.from({ length: 20 }, () => ask(1, 1)),
      ask(2, 40 * MIB),
      ask(2, 8 * MIB),
      ask(3, 9),
    ];
    const outcomes = Promise.allSettled(asked);
    await expect(ask(1, 1)).rejects.toMatchObject({ code: 'SERVER_BUSY' });
    await expect(ask(2, 1)).rejects.toMatchObject({ code: 'SERVER_BUSY' });
    images.close();
    expect(await outcomes).toHaveLength(24);
  });

  it('works for one user after the other', async () => {
    processOf('quick', `process.on('message', ({ image }) => process.send({ result: String(image[0]) }));`);
    const order: string[] = [];
    const ask = async (name: number, user: number) =>
      order.push(String(await images.inspect(Buffer.of(name), user as UserId)));
    await Promise.all([ask(1, 1), ask(2, 1), ask(3, 1), ask(4, 1), ask(21, 2), ask(22, 2), ask(31, 3)]);
    expect(order).toEqual(['1', '2', '21', '31', '3', '22', '4']);
  });

  const itOnLinux = process.platform === 'linux' ? it : it.skip;
  itOnLinux('is what the system ends first where memory runs out', async () => {
    const score = '/proc/self/oom_score_adj';
    const before = readFileSync(score, 'utf8');
    const copy = join(built.script, '..', 'reported');
    const report = `fs.writeFileSync(${JSON.stringify(copy)}, fs.readFileSync('${score}'))`;
    processOf('reporting', `const fs = require('node:fs'); require(${JSON.stringify(built.script)}); ${report};`);
    await images.inspect(blackPng(3, 2), USER);
    expect(readFileSync(copy, 'utf8')).toBe('1000\n');
    expect(readFileSync(score, 'utf8')).toBe(before);
  });

  it('is done without where there is none, but for what would keep the event loop', async () => {
    images = new ImageProcess(null);
    expect(await images.inspect(blackPng(3, 2), USER)).toMatchObject({ width: 3, height: 2 });
    await expect(images.inspect(HEIC_PHOTO, USER)).rejects.toMatchObject({ code: 'UNREADABLE_IMAGE' });
    await expect(images.inspect(Buffer.of(0), USER)).rejects.toMatchObject({ code: 'UNREADABLE_IMAGE' });
  });
});
