import { createHash } from 'node:crypto';
import { type Entry, openPromise, parseExtraFields, type ZipFile } from 'yauzl';
import { MANIFEST, MAX_HELD_MESSAGES } from './write-held.js';

/**
 * - `missing`: in the manifest only.
 * - `unexpected`: not in the manifest, or twice in the archive.
 * - `ambiguous`: other programs can unpack the entry under another name, or as a link or folder.
 */
export type HeldFault = 'changed' | 'missing' | 'unexpected' | 'ambiguous';

export interface HeldVerification {
  /** Number of entries with the hash of the manifest. */
  readonly entries: number;
  /** SHA-256 of the manifest. */
  readonly manifest: string;
  readonly findings: readonly { readonly path: string; readonly fault: HeldFault }[];
}

/** Maximum size of a manifest. */
const MAX_MANIFEST_BYTES = MAX_HELD_MESSAGES * 300;
const LINE = /^([0-9a-f]{64}) {2}(.+)$/;

/** Compares the entries of an archive with its manifest. @throws Error if it is no such archive */
export async function verifyHeld(path: string): Promise<HeldVerification> {
  const zip = await openPromise(path, { autoClose: false });
  try {
    const entries: Entry[] = [];
    for await (const entry of zip.eachEntry()) entries.push(entry);
    const manifest = entries.find(({ fileName }) => fileName === MANIFEST);
    if (!manifest || manifest.uncompressedSize > MAX_MANIFEST_BYTES) throw new Error('It has no manifest.');
    const text = Buffer.concat(await chunksOf(zip, manifest));
    const expected = readManifest(text.toString());
    const findings: { path: string; fault: HeldFault }[] = [];
    let matching = 0;
    for (const entry of entries) {
      const { fileName } = entry;
      const hash = expected.get(fileName);
      expected.delete(fileName);
      if (!(await isPlainFile(zip, entry))) findings.push({ path: fileName, fault: 'ambiguous' });
      else if (entry === manifest) continue;
      else if (hash === undefined) findings.push({ path: fileName, fault: 'unexpected' });
      else if ((await hashOf(zip, entry)) === hash) matching++;
      else findings.push({ path: fileName, fault: 'changed' });
    }
    for (const missing of expected.keys()) findings.push({ path: missing, fault: 'missing' });
    return { entries: matching, manifest: createHash('sha256').update(text).digest('hex'), findings };
  } finally {
    zip.close();
  }
}

/** Extra fields with sizes, times or numeric owners. Other fields can contain another name or the target of a link. */
const PLAIN_FIELDS = new Set([0x0001, 0x000a, 0x5455, 0x7875]);
/** Attributes of Windows: volume label, folder and link. */
const SPECIAL_ATTRIBUTES = 0x418;
/** Types of files in a Unix mode; absent in archives that Parley writes. */
const PLAIN_TYPES = [0, 0o10];

/** True if all readers of ZIP archives unpack the entry as a file of this name. */
async function isPlainFile(zip: ZipFile, entry: Entry): Promise<boolean> {
  const { fileName, fileNameRaw, externalFileAttributes, extraFieldRaw } = entry;
  const { generalPurposeBitFlag, compressionMethod } = entry;
  if (!PLAIN_TYPES.includes(externalFileAttributes >>> 28) || externalFileAttributes & SPECIAL_ATTRIBUTES) return false;
  try {
    const local = await zip.readLocalFileHeaderPromise(entry);
    return (
      [Buffer.from(fileName), local.fileName].every((name) => name.equals(fileNameRaw)) &&
      local.generalPurposeBitFlag === generalPurposeBitFlag &&
      local.compressionMethod === compressionMethod &&
      [extraFieldRaw, local.extraField].flatMap(parseExtraFields).every(({ id }) => PLAIN_FIELDS.has(id))
    );
  } catch {
    return false;
  }
}

/** @throws Error for a line that is not of `sha256sum` */
function readManifest(text: string): Map<string, string> {
  const lines = text.split('\n').filter((line) => line !== '');
  return new Map(
    lines.map((line) => {
      const [, hash, name] = LINE.exec(line) ?? [];
      if (hash === undefined || name === undefined) throw new Error('Its manifest is damaged.');
      return [name, hash];
    }),
  );
}

async function chunksOf(zip: ZipFile, entry: Entry): Promise<Buffer[]> {
  const chunks: Buffer[] = [];
  for await (const chunk of await zip.openReadStreamPromise(entry)) chunks.push(chunk as Buffer);
  return chunks;
}

/** Returns the hash of the content; an empty text if it cannot be read. */
async function hashOf(zip: ZipFile, entry: Entry): Promise<string> {
  const hash = createHash('sha256');
  try {
    for await (const chunk of await zip.openReadStreamPromise(entry)) hash.update(chunk as Buffer);
  } catch {
    return '';
  }
  return hash.digest('hex');
}
