import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { crc32 } from 'node:zlib';
import type { FileId, MessageId } from '@parley/domain/kernel';
import type { FileCopy, HeldRecord, HeldSource } from '@parley/transfer/exports';
import { fromBufferPromise } from 'yauzl';
import { ZipFile } from 'yazl';
import { verifyHeld } from './verify-held.js';
import { type HeldEmail, writeHeld } from './write-held.js';

const ann = { id: 1, name: 'Ann', email: 'ann@example.com' } as HeldRecord['sender'];
const bob = { id: 2, name: 'Bob', email: 'bob@example.com' } as HeldRecord['sender'];

const record = (id: number, more: Partial<HeldRecord> = {}): HeldRecord => ({
  ...{ id: id as MessageId, sentAt: 100, sender: ann, participants: null, content: `text ${id}`, html: '<p>' },
  ...{
    channel: { id: 7, name: 'town', topic: 'lunch' } as HeldRecord['channel'],
    edits: [],
    deleted: null,
    fileIds: [],
  },
  ...more,
});

const source = (batches: readonly (readonly HeldRecord[])[]): HeldSource => ({
  hold: { id: 3, reason: 'Case 1' } as never,
  organization: { name: 'Acme', stringId: 'acme', uuid: 'u' },
  exportedAt: 500,
  async *messages() {
    yield* batches;
  },
  file: async (id, messageIds) =>
    id === 5
      ? ({
          file: { id, name: 'a ../b.txt' },
          messageIds,
          content: Readable.from([Buffer.from('bytes')]),
        } as never as FileCopy)
      : null,
});

const BATCHES = [
  [record(10, { fileIds: [5, 6] as FileId[] }), record(11, { channel: null, participants: [ann, bob] })],
  // Deleted after it was read.
  [record(10, { content: 'again' }), record(12, { deleted: { at: 400, by: null }, fileIds: [5] as FileId[] })],
];

const encode = async (email: HeldEmail) => Buffer.from(JSON.stringify(email));

async function unzip(bytes: Buffer): Promise<Map<string, Buffer>> {
  const zip = await fromBufferPromise(bytes);
  const files = new Map<string, Buffer>();
  for await (const entry of zip.eachEntry()) {
    files.set(entry.fileName, await buffer(await zip.openReadStreamPromise(entry)));
  }
  return files;
}

function zipOf(files: Iterable<readonly [string, Buffer]>): Promise<Buffer> {
  const zip = new ZipFile();
  for (const [name, content] of files) zip.addBuffer(content, name);
  zip.end();
  return buffer(zip.outputStream as Readable);
}

const LOCAL = Buffer.from('PK\x03\x04');
const CENTRAL = Buffer.from('PK\x01\x02');

/** Start of the header of an entry. */
const headerOf = (zip: Buffer, signature: Buffer, name: string): number => {
  const fixed = signature === LOCAL ? 30 : 46;
  let at = zip.indexOf(signature);
  while (zip.subarray(at + fixed, at + fixed + name.length).toString() !== name) at = zip.indexOf(signature, at + 4);
  return at;
};

/** Adds the field 0x7075, a second name, to the entry in the directory of an archive. */
function withUnicodePath(zip: Buffer, name: string, other: string): Buffer {
  const at = headerOf(zip, CENTRAL, name);
  const field = Buffer.alloc(9 + other.length);
  field.writeUInt16LE(0x7075, 0);
  field.writeUInt16LE(5 + other.length, 2);
  field.writeUInt8(1, 4);
  field.writeUInt32LE(crc32(name), 5);
  field.write(other, 9);
  const end = at + 46 + name.length + zip.readUInt16LE(at + 30);
  const changed = Buffer.concat([zip.subarray(0, end), field, zip.subarray(end)]);
  changed.writeUInt16LE(zip.readUInt16LE(at + 30) + field.length, at + 30);
  const directory = changed.length - 22 + 12;
  changed.writeUInt32LE(changed.readUInt32LE(directory) + field.length, directory);
  return changed;
}

const patched = (zip: Buffer, at: number, bytes: readonly number[]): Buffer => {
  const changed = Buffer.from(zip);
  changed.set(bytes, at);
  return changed;
};

describe('writeHeld', () => {
  let folder: string;
  let files: Map<string, Buffer>;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'parley-held-'));
    files = await unzip(await buffer(writeHeld(source(BATCHES), encode, async () => {})));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const text = (name: string) => files.get(name)!.toString();
  const lines = (name: string) =>
    text(name)
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));

  it('writes each message once, as a line and as an email', () => {
    expect(lines('messages.jsonl').map(({ id, content }) => [id, content])).toEqual([
      [10, 'text 10'],
      [11, 'text 11'],
      [12, 'text 12'],
    ]);
    const emails = [10, 11, 12].map((id) => JSON.parse(text(`emails/${id}.eml`)) as HeldEmail);
    expect(emails).toMatchObject([
      { from: ann, subject: '#town > lunch', headers: { 'X-Parley-Files': '5 6' } },
      { to: [bob], subject: 'Direct message', text: 'text 11' },
      { headers: { 'X-Parley-Deleted': '1970-01-01T00:06:40.000Z' } },
    ]);
  });

  it('writes each file once, with its messages, and names missing ones', () => {
    expect(lines('files.jsonl')).toEqual([
      { id: 5, name: 'a ../b.txt', messageIds: [10, 12], path: 'files/5-a_.._b.txt' },
      { id: 6, messageIds: [10], path: null },
    ]);
    expect(text('files/5-a_.._b.txt')).toBe('bytes');
    expect(JSON.parse(text('hold.json'))).toMatchObject({ reason: 'Case 1', messages: 3, files: 2 });
  });

  const verified = async (changed: Iterable<readonly [string, Buffer]>) => {
    const path = join(folder, 'a.zip');
    writeFileSync(path, await zipOf(changed));
    return verifyHeld(path);
  };

  it('writes a manifest by which changed, missing and additional files are found', async () => {
    const whole = await verified(files);
    expect(whole).toMatchObject({
      entries: files.size - 1,
      findings: [],
      manifest: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    const others = new Map(files).set('emails/10.eml', Buffer.from('other')).set('more', Buffer.from('more'));
    others.delete('hold.json');
    expect((await verified(others)).findings).toEqual([
      { path: 'emails/10.eml', fault: 'changed' },
      { path: 'more', fault: 'unexpected' },
      { path: 'hold.json', fault: 'missing' },
    ]);
    const twice = [...files, ['hold.json', Buffer.from('{}')] as const];
    expect((await verified(twice)).findings).toEqual([{ path: 'hold.json', fault: 'unexpected' }]);
    const renamed = new Map(files).set('SHA256SUMS', Buffer.from(`${text('SHA256SUMS')}\n`));
    expect((await verified(renamed)).manifest).not.toBe(whole.manifest);
  });

  const [one, two] = ['emails/10.eml', 'emails/11.eml'];
  const attributes = (zip: Buffer) => headerOf(zip, CENTRAL, one) + 38;
  it.each<[string, (zip: Buffer) => Buffer, readonly string[]]>([
    ['a symbolic link', (zip) => patched(zip, attributes(zip), [0, 0, 0xff, 0xa1]), [one]],
    ['a device', (zip) => patched(zip, attributes(zip), [0, 0, 0xff, 0x21]), [one]],
    ['a folder of Windows', (zip) => patched(zip, attributes(zip), [0x10, 0, 0, 0]), [one]],
    [
      'a manifest that is a link',
      (zip) => patched(zip, headerOf(zip, CENTRAL, 'SHA256SUMS') + 41, [0xa1]),
      ['SHA256SUMS'],
    ],
    ['names that a field exchanges', (zip) => withUnicodePath(withUnicodePath(zip, one, two), two, one), [two, one]],
    ['a field with the same name', (zip) => withUnicodePath(zip, one, one), [one]],
    ['another name before its content', (zip) => patched(zip, headerOf(zip, LOCAL, one) + 30, [0x45]), [one]],
    [
      'a backslash',
      (zip) => patched(patched(zip, headerOf(zip, CENTRAL, one) + 52, [0x5c]), headerOf(zip, LOCAL, one) + 36, [0x5c]),
      [one],
    ],
    ['a name in an old character set', (zip) => patched(zip, headerOf(zip, CENTRAL, one) + 9, [0]), [one]],
    ['another compression before its content', (zip) => patched(zip, headerOf(zip, LOCAL, one) + 8, [0]), [one]],
  ])('finds %s', async (_, change, ambiguous) => {
    const path = join(folder, 'b.zip');
    writeFileSync(path, change(await zipOf(files)));
    expect((await verifyHeld(path)).findings).toEqual(ambiguous.map((each) => ({ path: each, fault: 'ambiguous' })));
  });

  it.each<[string, string, Record<string, string>]>([
    ['without a manifest', 'It has no manifest.', { a: '' }],
    ['with a damaged manifest', 'Its manifest is damaged.', { SHA256SUMS: 'a' }],
  ])('refuses to verify an archive %s', async (_, problem, content) => {
    const entries = Object.entries(content).map(([name, each]) => [name, Buffer.from(each)] as const);
    await expect(verified(entries)).rejects.toThrow(problem);
  });
});
