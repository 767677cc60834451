import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
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

/** Names that the build makes. Others could lead out of the folder. */
const NAME = /^[\w-]+(?:\.[\w-]+)+$/;

/** Files in a folder, which may be replaced while the server runs. */
export class FolderWebAssets implements WebAssets {
  constructor(private readonly folder: string) {}

  page(): Promise<string> {
    return readFile(join(this.folder, 'index.html'), 'utf8');
  }

  async open(name: string, acceptedEncodings: string): Promise<WebAsset | null> {
    const contentType = TYPES[extname(name)];
    if (contentType === undefined || !NAME.test(name)) return null;
    const path = join(this.folder, 'web', name);
    for (const [encoding, extension] of ENCODINGS) {
      if (!accepts(acceptedEncodings, encoding)) continue;
      const body = await streamOf(path + extension);
      if (body) return { contentType, contentEncoding: encoding, body };
    }
    const body = await streamOf(path);
    return body && { contentType, body };
  }
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
