import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { cp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, extname, join } from 'node:path';
import type { S3BlobStore } from '@parley/blobs';
import type { ByteStream, WebAsset, WebAssets } from '@parley/http';

const require = createRequire(import.meta.url);

/** Places of the built web client: in the repository, and in the package that applications install. */
const PAGES = ['../../../web/dist/app/index.html', './web/index.html'];

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

/** Precompressed encodings, shortest first, and their file extensions. */
const ENCODINGS = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const;

/**
 * Returns the built web client; null if it has not been built. `builds` keeps files of previous builds for open pages.
 */
export function openWebAssets(builds: KeptBuilds | null): WebAssets | null {
  for (const page of PAGES) {
    try {
      return new FolderWebAssets(dirname(require.resolve(page)), builds);
    } catch {
      // Tries the next location.
    }
  }
  return null;
}

/** Pattern of file names made by the build. Other names could lead out of the folder. */
const NAME = /^[\w-]+(?:\.[\w-]+)+$/;

/** Number of previous builds to keep. */
const MAX_FORMER = 3;
const KEPT_MS = 24 * 3600_000;
const BUILD = /^[0-9a-f]{16}$/;
/** Marker file written when a build is replaced. */
const REPLACED = 'replaced';

/** Files of the current and previous builds. */
export interface KeptBuilds {
  /** Builds with the time of their replacement in Unix milliseconds; null for builds in use. */
  list(): Promise<ReadonlyMap<string, number | null>>;
  /** Copies a build's missing files from a folder. */
  add(build: string, folder: string): Promise<void>;
  markReplaced(build: string, isReplaced: boolean): Promise<void>;
  remove(build: string): Promise<void>;
  /** Returns null if the file does not exist. */
  open(build: string, name: string): Promise<ByteStream | null>;
}

/** Files in a folder, which may be replaced while the server runs. */
export class FolderWebAssets implements WebAssets {
  /** Most recently kept build. */
  private kept = '';

  constructor(
    private readonly folder: string,
    /** Null: previous builds are not kept. */
    private readonly builds: KeptBuilds | null = null,
  ) {}

  async page(): Promise<string> {
    const page = await readFile(join(this.folder, 'index.html'), 'utf8');
    const build = createHash('sha256').update(page).digest('hex').slice(0, 16);
    if (this.builds && build !== this.kept) {
      this.kept = build;
      // Open pages reload themselves if files are missing.
      void this.keep(this.builds, build).catch(() => {});
    }
    return page;
  }

  async open(name: string, acceptedEncodings: string): Promise<WebAsset | null> {
    if (!(extname(name) in TYPES) || !NAME.test(name)) return null;
    const asset = await assetIn((file) => streamOf(join(this.folder, 'web', file)), name, acceptedEncodings);
    if (asset || !this.builds) return asset;
    for (const build of (await this.builds.list()).keys()) {
      const former = await assetIn((file) => this.builds!.open(build, file), name, acceptedEncodings);
      if (former) return former;
    }
    return null;
  }

  /** Keeps a build's files and removes builds replaced more than a day ago. */
  private async keep(builds: KeptBuilds, build: string): Promise<void> {
    const before = await builds.list();
    await builds.add(build, join(this.folder, 'web'));
    await builds.markReplaced(build, false);
    const former = [...before].filter(([each]) => each !== build).map(([name, at]) => ({ name, at: at ?? Date.now() }));
    for (const { name } of former) if (before.get(name) === null) await builds.markReplaced(name, true);
    former.sort((a, b) => b.at - a.at);
    const old = former.filter(({ at }, index) => index >= MAX_FORMER || Date.now() - at > KEPT_MS);
    for (const { name } of old) await builds.remove(name);
  }
}

/** Builds in a folder next to the database. */
export class FolderBuilds implements KeptBuilds {
  constructor(private readonly folder: string) {}

  async list(): Promise<ReadonlyMap<string, number | null>> {
    const names = (await readdir(this.folder).catch(() => [])).filter((name) => BUILD.test(name));
    return new Map(await Promise.all(names.map(async (name) => [name, await this.replacedAt(name)] as const)));
  }

  async add(build: string, folder: string): Promise<void> {
    if ((await this.list()).has(build)) return;
    const part = join(this.folder, `${build}.part`);
    await rm(part, { recursive: true, force: true });
    await cp(folder, part, { recursive: true });
    await rename(part, join(this.folder, build));
  }

  async markReplaced(build: string, isReplaced: boolean): Promise<void> {
    const mark = join(this.folder, build, REPLACED);
    await (isReplaced ? writeFile(mark, '') : rm(mark, { force: true }));
  }

  async remove(build: string): Promise<void> {
    await rm(join(this.folder, build), { recursive: true, force: true });
  }

  open(build: string, name: string): Promise<ByteStream | null> {
    return streamOf(join(this.folder, build, name));
  }

  private replacedAt(build: string): Promise<number | null> {
    return stat(join(this.folder, build, REPLACED)).then(
      ({ mtimeMs }) => mtimeMs,
      () => null,
    );
  }
}

const IN_BUCKET = 'web-client/';
/** Cache lifetime of file names, since anyone may request files. */
const LISTED_MS = 10_000;

type Bucket = Pick<S3BlobStore, 'putObject' | 'readObject' | 'removeObject' | 'listObjects'>;
/** Objects by `BUILD/FILE` key. */
type Objects = ReadonlyMap<string, { readonly size: number; readonly storedAtMs: number }>;

/** Builds in the bucket for files, shared by all servers. */
export class BucketBuilds implements KeptBuilds {
  private listed: Promise<Objects> | null = null;
  private listedAt = 0;

  constructor(private readonly bucket: Bucket) {}

  async list(): Promise<ReadonlyMap<string, number | null>> {
    const objects = await this.objects();
    const builds = new Set([...objects.keys()].map((name) => name.split('/')[0]!).filter((name) => BUILD.test(name)));
    return new Map([...builds].map((build) => [build, objects.get(`${build}/${REPLACED}`)?.storedAtMs ?? null]));
  }

  async add(build: string, folder: string): Promise<void> {
    const stored = await this.objects();
    for (const name of (await readdir(folder)).filter((each) => !stored.has(`${build}/${each}`))) {
      await this.bucket.putObject(nameOf(build, name), await readFile(join(folder, name)));
    }
    this.listed = null;
  }

  async markReplaced(build: string, isReplaced: boolean): Promise<void> {
    const mark = nameOf(build, REPLACED);
    await (isReplaced ? this.bucket.putObject(mark, new Uint8Array()) : this.bucket.removeObject(mark));
    this.listed = null;
  }

  async remove(build: string): Promise<void> {
    for await (const { name } of this.bucket.listObjects(nameOf(build, ''), null)) await this.bucket.removeObject(name);
    this.listed = null;
  }

  async open(build: string, name: string): Promise<ByteStream | null> {
    const object = (await this.objects()).get(`${build}/${name}`);
    return object ? { bytes: this.bucket.readObject(nameOf(build, name)), length: object.size } : null;
  }

  private objects(): Promise<Objects> {
    if (this.listed && performance.now() - this.listedAt < LISTED_MS) return this.listed;
    this.listedAt = performance.now();
    const listed = this.listObjects();
    this.listed = listed;
    listed.catch(() => {
      this.listed = null;
    });
    return listed;
  }

  private async listObjects(): Promise<Objects> {
    const found: (readonly [string, { readonly size: number; readonly storedAtMs: number }])[] = [];
    for await (const object of this.bucket.listObjects(IN_BUCKET, null)) {
      found.push([object.name.slice(IN_BUCKET.length), object]);
    }
    return new Map(found);
  }
}

const nameOf = (build: string, name: string): string => `${IN_BUCKET}${build}/${name}`;

async function assetIn(
  open: (file: string) => Promise<ByteStream | null>,
  name: string,
  acceptedEncodings: string,
): Promise<WebAsset | null> {
  const contentType = TYPES[extname(name)]!;
  for (const [encoding, extension] of ENCODINGS) {
    if (!accepts(acceptedEncodings, encoding)) continue;
    const body = await open(name + extension);
    if (body) return { contentType, contentEncoding: encoding, body };
  }
  const body = await open(name);
  return body && { contentType, body };
}

/** Returns null if the file does not exist. */
async function streamOf(path: string): Promise<ByteStream | null> {
  try {
    const { size } = await stat(path);
    return { bytes: createReadStream(path), length: size };
  } catch {
    return null;
  }
}

/** True if the `Accept-Encoding` header includes the encoding. */
const accepts = (header: string, encoding: string): boolean =>
  header.split(',').some((part) => {
    const [name, ...parameters] = part.split(';').map((text) => text.trim().toLowerCase());
    return name === encoding && !parameters.includes('q=0');
  });
