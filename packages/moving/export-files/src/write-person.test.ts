import type { PersonMessage, PersonSource } from '@parley/transfer/exports';
import { Ajv2020 as Ajv } from 'ajv/dist/2020.js';
import { fromBufferPromise } from 'yauzl';
import type { PERSON_SCHEMA } from './person-schema.js';
import { writePerson } from './write-person.js';

const HAMLET = { id: 1, name: 'Hamlet <i>' } as PersonMessage['sender'];

const message = (id: number, content: string): PersonMessage => ({
  id: id as PersonMessage['id'],
  sentAt: 1_700_000_000 as PersonMessage['sentAt'],
  client: 'website',
  channel: { id: 1 as never, name: 'town', topic: 'ghosts' },
  participants: null,
  sender: HAMLET,
  content,
  earlierTexts: [{ replacedAt: 1_700_000_100 as PersonMessage['sentAt'], content: 'before' }],
  answers: [],
  data: null,
  flags: { read: true } as PersonMessage['flags'],
});

async function* batches<T>(...each: readonly T[][]): AsyncGenerator<readonly T[]> {
  yield* each;
}
async function* bytes(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

const source = (overrides: Partial<PersonSource> = {}): PersonSource => ({
  account: {
    exportedAt: 1_700_000_500,
    organization: { name: 'Elsinore', stringId: 'elsinore' },
    user: { id: 1, fullName: HAMLET.name, email: 'hamlet@example.com', joinedAt: 1_600_000_000 },
    groups: ['kings'],
    bots: [],
    logIns: { sessions: [{ userAgent: '<script>', createdAt: 1_600_000_000 }] },
    invitations: [],
    personal: { drafts: [] },
    channels: [{ id: 1, name: 'town' }],
    profileFields: [],
    botStorage: [],
  } as unknown as PersonSource['account'],
  channelMessages: () => batches([message(3, '<b>To be</b>')], [message(4, 'or not')]),
  directMessages: () => batches<PersonMessage>(),
  reactions: () =>
    batches([{ messageId: 3 as never, userId: HAMLET.id, type: 'unicode', code: '1f44d', name: '+1' } as never]),
  answers: () => batches([{ messageId: 5 as never, content: '{"type":"vote"}' }]),
  auditEntries: () => batches([{ at: 1, action: 'users.upsert', isOwn: false, changes: '{}', details: null }]),
  async *files() {
    const file = { id: 7, name: '../../etc/pass wd', size: 5, contentType: 'text/plain', createdAt: 1_600_000_000 };
    yield { file: file as never, messageIds: [3 as never], content: bytes('ghost') };
    yield { file: { ...file, id: 8 } as never, messageIds: [], content: null };
  },
  avatar: async () => ({ of: HAMLET.id, size: 3, content: bytes('png') }),
  ...overrides,
});

async function written(from: PersonSource): Promise<ReadonlyMap<string, string>> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of writePerson(from, async () => {})) chunks.push(chunk);
  const zip = await fromBufferPromise(Buffer.concat(chunks), { lazyEntries: true });
  const files = new Map<string, string>();
  for await (const entry of zip.eachEntry()) {
    const content: Buffer[] = [];
    for await (const chunk of await zip.openReadStreamPromise(entry)) content.push(chunk as Buffer);
    files.set(entry.fileName, Buffer.concat(content).toString());
  }
  return files;
}

it('writePerson writes lines of JSON that match the schema in the archive', async () => {
  const files = await written(source());
  const schema = JSON.parse(files.get('schema.json')!) as typeof PERSON_SCHEMA;
  const ajv = new Ajv({ allowUnionTypes: true });
  const counts = Object.entries(schema.$defs).map(([name, each]) => {
    const records = name.endsWith('.jsonl') ? files.get(name)!.split('\n').slice(0, -1) : [files.get(name)!];
    for (const text of records)
      expect([name, ajv.validate(each, JSON.parse(text)), ajv.errors]).toEqual([name, true, null]);
    return [name, records.length];
  });
  expect(counts).toEqual([
    ['account.json', 1],
    ['channel-messages.jsonl', 2],
    ['direct-messages.jsonl', 0],
    ['reactions.jsonl', 1],
    ['answers.jsonl', 1],
    ['audit.jsonl', 1],
    ['files.jsonl', 2],
  ]);
});

it('writePerson keeps files inside the folder files, whatever their name', async () => {
  const files = await written(source());
  expect([...files.keys()].sort()).toEqual([
    'account.json',
    'answers.jsonl',
    'audit.jsonl',
    'avatar.png',
    'channel-messages-1.html',
    'channel-messages.jsonl',
    'direct-messages.jsonl',
    'files.jsonl',
    'files/7-.._.._etc_pass_wd',
    'index.html',
    'reactions.jsonl',
    'schema.json',
  ]);
  expect(files.get('files/7-.._.._etc_pass_wd')).toBe('ghost');
});

it('writePerson writes pages without markup of users', async () => {
  const files = await written(source());
  const page = files.get('channel-messages-1.html')!;
  expect(page).toContain('&lt;b&gt;To be&lt;/b&gt;');
  expect(page).toContain('Hamlet &lt;i&gt;');
  expect(page).toContain('before');
  const index = files.get('index.html')!;
  expect(index).toContain('<a href="channel-messages-1.html">');
  expect(index).toContain('2 messages written in channels');
  expect(index).toContain('&lt;script&gt;');
  expect(`${page}${index}`).not.toMatch(/<(?:b|i|script)>T/);
});

it('writePerson starts a page after each 500 messages', async () => {
  const many = Array.from({ length: 1001 }, (_, index) => message(index + 1, 'word'));
  const files = await written(source({ directMessages: () => batches(many.slice(0, 600), many.slice(600)) }));
  expect([...files.keys()].filter((name) => name.startsWith('direct-messages-'))).toEqual([
    'direct-messages-1.html',
    'direct-messages-2.html',
  ]);
});

it('writePerson fails with the error of its source, and ends the source if the reader stops', async () => {
  async function* failing(): AsyncGenerator<readonly PersonMessage[]> {
    yield [message(1, 'word')];
    throw new Error('disk');
  }
  await expect(written(source({ directMessages: failing }))).rejects.toThrow('disk');
  let isEnded = false;
  async function* endless(): AsyncGenerator<readonly PersonMessage[]> {
    try {
      for (;;) yield Array.from({ length: 100 }, (_, index) => message(index + 1, String(Math.random())));
    } finally {
      isEnded = true;
    }
  }
  let length = 0;
  for await (const chunk of writePerson(source({ channelMessages: endless }), async () => {})) {
    length += chunk.length;
    if (length > 50_000) break;
  }
  await new Promise(setImmediate);
  expect(isEnded).toBe(true);
});
