import { mkdtempSync, readdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { workMsOf } from '@parley/testkit/process-usage';
import { excessOf } from './json.js';
import { parseJson } from './parley-shapes.js';
import { openExport } from './read-export.js';
import { type MessageContext, readMessageFile } from './read-messages.js';

const context: MessageContext = {
  channelOf: () => null,
  personOf: () => null,
  clients: new Map(),
  reactionsOf: () => [],
  submessagesOf: () => [],
  isOwn: false,
};
const message = {
  id: 1,
  sender: 2,
  recipient: 3,
  subject: '',
  content: 'x',
  rendered_content: '<p>x</p>',
  date_sent: 1_700_000_000,
  sending_client: 1,
};
const fileOf = (changes: object, holders: unknown = []) =>
  JSON.stringify({ zerver_message: [{ ...message, ...changes }], zerver_usermessage: holders });
const read = (content: string) => readMessageFile(content, 'messages-000001.json', context);
const refusal = (text: RegExp) =>
  expect.objectContaining({ code: 'INVALID_IMPORT', message: expect.stringMatching(text) });
const thrownBy = (work: () => unknown): unknown => {
  try {
    return work();
  } catch (error) {
    return error;
  }
};

const deep = '['.repeat(200_000) + ']'.repeat(200_000);

describe('message file', () => {
  it.each([
    ['an infinite id', fileOf({ id: 'ID' }).replace('"ID"', '1e400'), /id is not an id/],
    ['an id that is not a safe integer', fileOf({ id: 'ID' }).replace('"ID"', '9007199254740993'), /id is not an id/],
    ['an infinite time', fileOf({ date_sent: 0 }).replace(':0,', ':-1e999,'), /date_sent is not a number/],
    ['a message in a prototype', `{"zerver_message":[{"__proto__":${JSON.stringify(message)}}]}`, /id is not an id/],
    ['tables in a prototype', `{"__proto__":${fileOf({})}}`, /zerver_message is not a list/],
    ['a deep list in place of a text', fileOf({ content: 'C' }).replace('"C"', deep), /content is not a text/],
    [
      'a deep row of message holders',
      fileOf({}, ['R']).replace('"R"', `{"user_profile":${deep}}`),
      /has an invalid row/,
    ],
    ['deep nesting', deep, /is not an object/],
  ])('rejects a file with %s', (_, content, text) => {
    expect(thrownBy(() => read(content))).toEqual(refusal(text));
  });

  it('uses the last of duplicate keys, like other parsers', () => {
    const [copy] = read(`{"zerver_message":[],${fileOf({}).slice(1)}`);
    expect(copy!.message.id).toBe(1);
    const twice = fileOf({ sender: 9 }).replace('"sender":9', '"sender":9,"sender":8');
    expect(read(twice)[0]!.message.senderId).toBe(8);
  });

  it('parses in linear time despite false mentions', async () => {
    const content = fileOf({ rendered_content: 'class="user-mention"'.repeat(20_000) });
    expect(await workMsOf(() => read(content), 200)).toBeLessThan(200);
  });

  it.each([
    ['<span class="user-mention channel-wildcard-mention" data-user-id="*">@all</span>', true],
    ['<span class="user-mention" data-user-id="5">@Hamlet</span>', false],
    ['class="user-mention"> data-user-id="*"', false],
  ])('checks %s for a channel mention: %p', (html, mentions) => {
    expect(read(fileOf({ rendered_content: html }))[0]!.message.mentionsChannel).toBe(mentions);
  });
});

describe('excessOf', () => {
  const limits = { maxDepth: 3, maxStructures: 5, maxMembers: 4 };

  it.each([
    ['lists in lists', '[[[[]]]]', 'is nested too deeply'],
    ['many dictionaries', '[{},{},{},{},{}]', 'contains too many lists and dictionaries'],
    ['a dictionary with many keys', '{"a":1,"b":2,"c":3,"d":4,"e":5}', 'has a dictionary with too many keys'],
    ['many values', `[${'0,'.repeat(26)}0]`, 'contains too many values'],
  ])('rejects a value of %s as too large', (_, text, reason) => {
    expect(excessOf(text, limits)).toBe(reason);
  });

  it.each([
    ['[[[]]]'],
    ['[{},{},{},{}]'],
    ['{"a":1,"b":2,"c":3,"d":4}'],
    ['[{"a":1,"b":2,"c":3},{"a":1,"b":2,"c":3}]'],
    ['["[[[[[[{{{{{{:::::,,,,,","\\"[[[[[[{{{{{:::::::"]'],
    [`["${'\\\\'.repeat(3)}",[[]]]`],
    [`[${'0,'.repeat(25)}0]`],
  ])('accepts %s', (text) => {
    expect(excessOf(text, limits)).toBeNull();
  });

  it('checks a long document before parsing it', () => {
    const keys = Array.from({ length: 2_000_000 }, (_, n) => `"k${n}":0`).join();
    expect(thrownBy(() => parseJson(`{${keys}}`, 'realm.json'))).toEqual(refusal(/a dictionary with too many keys/));
  });
});

describe('error message', () => {
  it('stays short', () => {
    const error = thrownBy(() => parseJson('{', 'x'.repeat(1_000_000))) as Error;
    expect(error.message.length).toBeLessThan(1000);
  });
});

describe('import folder', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'parley-open-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));
  const open = (path: string) => openExport(path, { names: {} as never, temporaryFolder: folder });

  it('rejects a folder that contains only links', async () => {
    const root = join(folder, 'export');
    await mkdir(root);
    writeFileSync(join(folder, 'secret.json'), '{}');
    symlinkSync(join(folder, 'secret.json'), join(root, 'realm.json'));
    await expect(open(root)).rejects.toEqual(refusal(/has no realm.json/));
  });

  it('removes only import folders abandoned a day ago', async () => {
    const names = ['parley-import-abandoned', 'parley-import-running', 'parley-files'];
    for (const name of names) await mkdir(join(folder, name, 'inner'), { recursive: true });
    writeFileSync(join(folder, 'parley-import-notes'), 'of somebody');
    symlinkSync(join(folder, 'parley-files'), join(folder, 'parley-import-link'));
    const yesterday = Date.now() / 1000 - 90_000;
    for (const name of ['parley-import-abandoned', 'parley-files', 'parley-import-notes']) {
      utimesSync(join(folder, name), yesterday, yesterday);
    }
    writeFileSync(join(folder, 'given.tar.gz'), 'no archive');
    await expect(open(join(folder, 'given.tar.gz'))).rejects.toEqual(refusal(/is damaged/));
    expect(readdirSync(folder).sort()).toEqual([
      'given.tar.gz',
      'parley-files',
      'parley-import-link',
      'parley-import-notes',
      'parley-import-running',
    ]);
  });
});
