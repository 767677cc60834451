import { createReadStream } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, extname, join } from 'node:path';
import type { WebAsset, WebAssets } from '@parley/http';

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

/** Returns the built web client; null if it has not been built. */
export function openWebAssets(): WebAssets | null {
  for (const page of PAGES) {
    try {
      return new FolderWebAssets(dirname(require.resolve(page)));
    } catch {
      // The other place.
    }
  }
  return null;
}

/** Files in a folder, which is not read before the first request. */
export class FolderWebAssets implements WebAssets {
  private names: Promise<ReadonlySet<string>> | null = null;

  constructor(private readonly folder: string) {}

  page(): Promise<string> {
    return readFile(join(this.folder, 'index.html'), 'utf8');
  }

  async open(name: string, acceptedEncodings: string): Promise<WebAsset | null> {
    this.names ??= readdir(join(this.folder, 'web')).then((names) => new Set(names));
    const names = await this.names;
    const contentType = TYPES[extname(name)];
    // Only listed names: others could lead out of the folder.
    if (contentType === undefined || !names.has(name)) return null;
    const [encoding, extension = ''] =
      ENCODINGS.find(([accepted, suffix]) => names.has(name + suffix) && accepts(acceptedEncodings, accepted)) ?? [];
    const path = join(this.folder, 'web', name + extension);
    const { size } = await stat(path);
    return {
      contentType,
      ...(encoding !== undefined && { contentEncoding: encoding }),
      body: { bytes: createReadStream(path), length: size },
    };
  }
}

/** True if a value of `Accept-Encoding` names the encoding. */
const accepts = (header: string, encoding: string): boolean =>
  header.split(',').some((part) => {
    const [name, ...parameters] = part.split(';').map((text) => text.trim().toLowerCase());
    return name === encoding && !parameters.includes('q=0');
  });
