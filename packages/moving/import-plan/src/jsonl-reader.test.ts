import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { JSONL_READER } from './jsonl-reader.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-records-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const PERSON = { source: 's', kind: 'person', id: 'p', name: 'Ann' };

async function read(text: string): Promise<readonly unknown[]> {
  const path = join(folder, 'acme.jsonl');
  writeFileSync(path, text);
  const records: unknown[] = [];
  for await (const record of (await JSONL_READER.open(path)).records()) records.push(record);
  return records;
}

describe('JSONL_READER', () => {
  it('recognizes a .jsonl file and a folder with records.jsonl', async () => {
    writeFileSync(join(folder, 'a.jsonl'), '');
    writeFileSync(join(folder, 'a.tar'), '');
    expect(await JSONL_READER.recognizes(join(folder, 'a.jsonl'))).toBe(true);
    expect(await JSONL_READER.recognizes(join(folder, 'a.tar'))).toBe(false);
    expect(await JSONL_READER.recognizes(folder)).toBe(false);
    writeFileSync(join(folder, 'records.jsonl'), '');
    expect(await JSONL_READER.recognizes(folder)).toBe(true);
  });

  it('reads one record per line and skips blank lines', async () => {
    expect(await read(`${JSON.stringify(PERSON)}\n\n${JSON.stringify({ ...PERSON, id: 'q' })}`)).toEqual([
      PERSON,
      { ...PERSON, id: 'q' },
    ]);
  });

  it('accepts a relative path', async () => {
    writeFileSync(join(folder, 'records.jsonl'), JSON.stringify(PERSON));
    writeFileSync(join(folder, 'a.txt'), 'text');
    const path = relative('.', folder);
    expect(await JSONL_READER.recognizes(path)).toBe(true);
    const opened = await JSONL_READER.open(path);
    for await (const record of opened.records()) expect(record).toEqual(PERSON);
    expect(await opened.sizeOf('a.txt')).toBe(4);
  });

  it('has no file for its own records', async () => {
    const path = join(folder, 'acme.jsonl');
    writeFileSync(path, JSON.stringify(PERSON));
    const opened = await JSONL_READER.open(path);
    expect(await opened.sizeOf('acme.jsonl')).toBeNull();
    expect(await opened.openFile('acme.jsonl')).toBeNull();
  });

  it.each([
    ['broken JSON', '{"kind":', /acme.jsonl: line 2 is not JSON/],
    ['a record of another form', '{"kind":"person"}', /acme.jsonl: line 2 lacks source/],
    ['deep nesting', `${'['.repeat(100_000)}${']'.repeat(100_000)}`, /acme.jsonl: line 2 is nested too deeply/],
    ['a line without an end', 'x'.repeat(17 * 1024 ** 2), /acme.jsonl has a line of more than/],
  ])('rejects %s with file and line', async (_, line, reason) => {
    await expect(read(`${JSON.stringify(PERSON)}\n${line}\n`)).rejects.toThrow(
      expect.objectContaining({ code: 'INVALID_IMPORT', message: expect.stringMatching(reason) }),
    );
  });

  it('opens files next to the records only', async () => {
    mkdirSync(join(folder, 'acme'));
    writeFileSync(join(folder, 'secret'), 'secret');
    writeFileSync(join(folder, 'acme', 'records.jsonl'), '');
    writeFileSync(join(folder, 'acme', 'a.txt'), 'text');
    symlinkSync(join(folder, 'secret'), join(folder, 'acme', 'link'));
    const opened = await JSONL_READER.open(join(folder, 'acme'));
    expect(await Promise.all(['a.txt', 'b.txt', 'link'].map((path) => opened.sizeOf(path)))).toEqual([4, null, null]);
    expect(await opened.openFile('link')).toBeNull();
    await expect(opened.sizeOf('../secret')).rejects.toThrow('cannot be that of a file');
    await expect(opened.openFile('/etc/passwd')).rejects.toThrow('cannot be that of a file');
  });
});
