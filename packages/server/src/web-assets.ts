import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { cp, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, extname, join } from 'node:path';
import type { ByteStream, WebAsset, WebAssets } from '@parley/http';

const require = createRequire(import.meta.url);

/** Places of the built web client: in the repository, and in the package that applications install. */
const PAGES = ['../../web/dist/app/index.html', './web/index.html'];

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

/** Encodings made by the build, the shortest first, and their file extensions. */
const ENCODINGS = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const;

/** Returns the built web client; null if it has not been built. `keptIn`: folder for files of former builds, which open pages need. */
export function openWebAssets(keptIn: string | null): WebAssets | null {
  for (const page of PAGES) {
    try {
      return new FolderWebAssets(dirname(require.resolve(page)), keptIn);
    } catch {
      // The other place.
    }
  }
  return null;
}

/** Names that the build makes. Others could lead out of the folder. */
const NAME = /^[\w-]+(?:\.[\w-]+)+$/;

/** Former builds of which files are kept. */
const MAX_FORMER = 3;
const KEPT_MS = 24 * 3600_000;
/** File in the folder of a former build, made when the build was replaced. */
const REPLACED = 'replaced';

/** Files in a folder, which may be replaced while the server runs. */
export class FolderWebAssets implements WebAssets {
  /** Build whose files were kept last. */
  private kept = '';

  constructor(
    private readonly folder: string,
    /** Folder for the files of this build and of those of the last day; null: they are not kept. */
    private readonly keptIn: string | null = null,
  ) {}

  async page(): Promise<string> {
    const page = await readFile(join(this.folder, 'index.html'), 'utf8');
    const build = createHash('sha256').update(page).digest('hex').slice(0, 16);
    if (this.keptIn !== null && build !== this.kept) {
      this.kept = build;
      // Open pages load themselves again if files are missing.
      void this.keep(this.keptIn, build).catch(() => {});
    }
    return page;
  }

  async open(name: string, acceptedEncodings: string): Promise<WebAsset | null> {
    if (!(extname(name) in TYPES) || !NAME.test(name)) return null;
    const asset = await assetIn(join(this.folder, 'web'), name, acceptedEncodings);
    if (asset || this.keptIn === null) return asset;
    for (const build of await buildsIn(this.keptIn)) {
      const former = await assetIn(join(this.keptIn, build), name, acceptedEncodings);
      if (former) return former;
    }
    return null;
  }

  /** Copies the files of a build, and removes builds that were replaced more than a day ago. */
  private async keep(keptIn: string, build: string): Promise<void> {
    const own = join(keptIn, build);
    await mkdir(keptIn, { recursive: true });
    if (!(await changedAt(own))) {
      await rm(`${own}.part`, { recursive: true, force: true });
      await cp(join(this.folder, 'web'), `${own}.part`, { recursive: true });
      await rename(`${own}.part`, own);
    }
    await rm(join(own, REPLACED), { force: true });
    const former: { readonly path: string; readonly at: number }[] = [];
    for (const name of (await buildsIn(keptIn)).filter((each) => each !== build)) {
      const path = join(keptIn, name);
      if (!(await changedAt(join(path, REPLACED)))) await writeFile(join(path, REPLACED), '');
      former.push({ path, at: (await changedAt(join(path, REPLACED)))! });
    }
    former.sort((a, b) => b.at - a.at);
    const old = former.filter(({ at }, index) => index >= MAX_FORMER || Date.now() - at > KEPT_MS);
    for (const { path } of old) await rm(path, { recursive: true, force: true });
  }
}

const buildsIn = async (folder: string): Promise<readonly string[]> =>
  (await readdir(folder).catch(() => [])).filter((name) => /^[0-9a-f]{16}$/.test(name));

/** Unix milliseconds; null if there is no such file or folder. */
const changedAt = (path: string): Promise<number | null> =>
  stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => null,
  );

async function assetIn(folder: string, name: string, acceptedEncodings: string): Promise<WebAsset | null> {
  const contentType = TYPES[extname(name)]!;
  const path = join(folder, name);
  for (const [encoding, extension] of ENCODINGS) {
    if (!accepts(acceptedEncodings, encoding)) continue;
    const body = await streamOf(path + extension);
    if (body) return { contentType, contentEncoding: encoding, body };
  }
  const body = await streamOf(path);
  return body && { contentType, body };
}

/** Null for a file that does not exist. */
async function streamOf(path: string): Promise<ByteStream | null> {
  try {
    const { size } = await stat(path);
    return { bytes: createReadStream(path), length: size };
  } catch {
    return null;
  }
}

/** True if a value of `Accept-Encoding` names the encoding. */
const accepts = (header: string, encoding: string): boolean =>
  header.split(',').some((part) => {
    const [name, ...parameters] = part.split(';').map((text) => text.trim().toLowerCase());
    return name === encoding && !parameters.includes('q=0');
  });
