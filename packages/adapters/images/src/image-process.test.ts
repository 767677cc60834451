import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { RealmId, UserId, WorkOwner } from '@parley/domain/kernel';
import { type BuiltScript, blackPng, buildScript, HEIC_PHOTO } from '@parley/testkit';
import { ZipFile } from 'yazl';
import { ImageProcess, type ImageProcessOptions } from './image-process.js';

const userOf = (user: number, realm = 1): WorkOwner => ({ realmId: realm as RealmId, userId: user as UserId });
const USER = userOf(1);
const MIB = 1024 * 1024;
const TICK = { width: 64, height: 64, fit: 'cover', format: 'png', maxFrames: 1 } as const;
/** Generous timeout, since starting a process is slow on a busy machine. */
const PATIENCE = { imageMs: 100_000, documentMs: 100_000 };

describe('ImageProcess', () => {
  let built: BuiltScript;
  let images: ImageProcess;
  beforeAll(() => {
    built = buildScript(join(__dirname, 'image-child.ts'));
  });
  afterAll(() => built.remove());
  beforeEach(() => {
    images = new ImageProcess({ script: built.script, ...PATIENCE });
  });
  afterEach(() => images.close());

  /** Process with a different script. */
  const processOf = (name: string, script: string, patience: ImageProcessOptions = {}) => {
    const path = join(built.script, '..', `${name}.cjs`);
    writeFileSync(path, script);
    images = new ImageProcess({ script: path, ...PATIENCE, ...patience });
    return images;
  };

  it('processes images in sequence and rejects like the library', async () => {
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

  it('reads documents, and returns null for damaged ones', async () => {
    const type = 'application/vnd.oasis.opendocument.text';
    const archive = new ZipFile();
    archive.addBuffer(Buffer.from('<text:p>tea</text:p>'), 'content.xml');
    archive.end();
    expect(await images.readDocument(await buffer(archive.outputStream), type, USER)).toBe('tea  ');
    expect(await images.readDocument(Buffer.from('no archive'), type, USER)).toBeNull();
    images = new ImageProcess({ script: null });
    expect(await images.readDocument(Buffer.from('no archive'), type, USER)).toBeNull();
  });

  it('does not block the event loop', async () => {
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
    // A blocked loop would not turn before the end. How often a free one turns depends on other processes.
    expect(turns).toBeGreaterThan(1);
  });

  it('rejects an image that crashes the process and continues with the next', async () => {
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

  it('rejects an image that takes too long and continues with the next', async () => {
    processOf(
      'slow',
      `process.on('message', ({ image }) => { while (image[0]); process.send({ result: 'fine' }); });`,
      { imageMs: 5000 },
    );
    const answers = [images.inspect(Buffer.of(1), USER), images.inspect(Buffer.of(0), USER)];
    expect(await Promise.allSettled(answers)).toMatchObject([
      { reason: { code: 'IMAGE_TOO_LARGE' } },
      { value: 'fine' },
    ]);
  });

  it('ends a document that takes too long, while images of others are processed', async () => {
    processOf('stuck', `process.on('message', ({ image }) => { while (!image); process.send({ result: 'fine' }); });`, {
      documentMs: 5000,
    });
    let isRead = false;
    const document = images.readDocument(Buffer.of(0), 'application/pdf', USER).finally(() => {
      isRead = true;
    });
    expect(await images.inspect(Buffer.of(0), USER)).toBe('fine');
    expect(isRead).toBe(false);
    expect(await document).toBeNull();
  });

  it('passes no server secret to the process', async () => {
    process.env.PARLEY_SECRET = 'a secret';
    processOf('curious', `process.on('message', () => process.send({ result: process.env }));`);
    expect(Object.keys(await images.inspect(Buffer.of(0), USER))).not.toContain('PARLEY_SECRET');
    delete process.env.PARLEY_SECRET;
  });

  it('rejects images beyond its capacity, and all images after closing', async () => {
    processOf('idle', `process.on('message', () => {});`);
    const ask = (user: number, realm = user) => images.inspect(Buffer.of(0), userOf(user, realm));
    // One image in progress plus the maximum number waiting, per user and in total.
    const answers = Array.from({ length: 101 }, (_, n) => ask(n % 5));
    const outcomes = Promise.allSettled(answers);
    const busy = { code: 'SERVER_BUSY', details: { retryAfter: 1 } };
    await expect(ask(9)).rejects.toMatchObject(busy);
    images.close();
    const codes = (await outcomes).map((outcome) => (outcome as PromiseRejectedResult).reason.code);
    expect(codes).toEqual(['UNREADABLE_IMAGE', ...Array.from({ length: 100 }, () => 'SERVER_BUSY')]);
    await expect(ask(9)).rejects.toMatchObject(busy);
  });

  it('limits each user to twenty images and a share of bytes while accepting others', async () => {
    processOf('idle', `process.on('message', () => {});`);
    const ask = (user: number, bytes: number) => images.inspect(Buffer.alloc(bytes), userOf(user));
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

  it('limits each realm to fifty images and a share of bytes while accepting others', async () => {
    processOf('idle', `process.on('message', () => {});`);
    const ask = (user: number, realm: number, bytes = 1) => images.inspect(Buffer.alloc(bytes), userOf(user, realm));
    const asked = [
      ...Array.from({ length: 51 }, (_, n) => ask(n % 4, 1)),
      ask(7, 2, 40 * MIB),
      ask(8, 2, 24 * MIB),
      ask(9, 3),
    ];
    const outcomes = Promise.allSettled(asked);
    await expect(ask(5, 1)).rejects.toMatchObject({ code: 'SERVER_BUSY' });
    await expect(ask(9, 2)).rejects.toMatchObject({ code: 'SERVER_BUSY' });
    images.close();
    expect((await outcomes).map(({ status }) => status)).toEqual(Array.from({ length: 54 }, () => 'rejected'));
  });

  it('processes the avatar of one organization next while another one floods images and documents', async () => {
    const answer = `process.send({ result: { bytes: Buffer.from(image) } })`;
    processOf('flooded', `process.on('message', ({ image }) => { while (!image); ${answer}; });`);
    const order: string[] = [];
    const ask = async (name: string, owner: WorkOwner) => {
      const { bytes } = await images.resize(Buffer.from(name), TICK, owner);
      order.push(Buffer.from(bytes).toString());
    };
    const documents = Array.from({ length: 10 }, () => images.readDocument(Buffer.of(0), 'application/pdf', USER));
    const flood = Array.from({ length: 40 }, (_, n) => ask('flood', userOf(n % 10)));
    const avatar = (async () => {
      await ask('medium avatar', userOf(99, 2));
      await ask('avatar', userOf(99, 2));
    })();
    await Promise.all([...flood, avatar]);
    expect(order.slice(0, 4)).toEqual(['flood', 'medium avatar', 'flood', 'avatar']);
    images.close();
    await Promise.allSettled(documents);
  });

  it('serves users of a realm round-robin', async () => {
    processOf('quick', `process.on('message', ({ image }) => process.send({ result: String(image[0]) }));`);
    const order: string[] = [];
    const ask = async (name: number, user: number) =>
      order.push(String(await images.inspect(Buffer.of(name), userOf(user))));
    await Promise.all([ask(1, 1), ask(2, 1), ask(3, 1), ask(4, 1), ask(21, 2), ask(22, 2), ask(31, 3)]);
    expect(order).toEqual(['1', '2', '21', '31', '3', '22', '4']);
  });

  const itOnLinux = process.platform === 'linux' ? it : it.skip;
  itOnLinux('is the first process that the system kills when memory runs out', async () => {
    const score = '/proc/self/oom_score_adj';
    const before = readFileSync(score, 'utf8');
    const copy = join(built.script, '..', 'reported');
    const report = `fs.writeFileSync(${JSON.stringify(copy)}, fs.readFileSync('${score}'))`;
    processOf('reporting', `const fs = require('node:fs'); require(${JSON.stringify(built.script)}); ${report};`);
    await images.inspect(blackPng(3, 2), USER);
    expect(readFileSync(copy, 'utf8')).toBe('1000\n');
    expect(readFileSync(score, 'utf8')).toBe(before);
  });

  it('reports a missing HEIC library once', async () => {
    const path = join(built.script, '..', 'incomplete.cjs');
    writeFileSync(
      path,
      `const resolve = require('node:module')._resolveFilename;
      require('node:module')._resolveFilename = (name, ...more) => {
        if (name.startsWith('libheif-js')) throw Object.assign(new Error("Cannot find module '" + name + "'"), { code: 'MODULE_NOT_FOUND' });
        return resolve(name, ...more);
      };
      require(${JSON.stringify(built.script)});`,
    );
    const reported: string[] = [];
    images = new ImageProcess({
      script: path,
      ...PATIENCE,
      report: (problem) => {
        reported.push(problem);
      },
    });
    for (const _ of [1, 2]) {
      await expect(images.inspect(HEIC_PHOTO, USER)).rejects.toMatchObject({ code: 'UNREADABLE_IMAGE' });
    }
    expect(reported).toEqual([
      'Reading HEIC images needs a library that is not installed. Run: npm install libheif-js',
    ]);
    expect(await images.inspect(blackPng(3, 2), USER)).toMatchObject({ width: 3 });
  });

  it("falls back to the caller's process, except for images that would block the event loop", async () => {
    images = new ImageProcess({ script: null });
    expect(await images.inspect(blackPng(3, 2), USER)).toMatchObject({ width: 3, height: 2 });
    await expect(images.inspect(HEIC_PHOTO, USER)).rejects.toMatchObject({ code: 'UNREADABLE_IMAGE' });
    await expect(images.inspect(Buffer.of(0), USER)).rejects.toMatchObject({ code: 'UNREADABLE_IMAGE' });
  });
});
