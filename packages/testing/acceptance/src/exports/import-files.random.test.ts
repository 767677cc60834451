import { SweepFiles } from '@parley/domain/files';
import type { RealmId, UserId } from '@parley/domain/kernel';
import { openRecords, type TestRecords } from '@parley/import-plan/testing';
import { RealmReader } from '@parley/transfer/exports';
import { AddImportedFiles, MergePlaceholder } from '@parley/transfer/imports';
import fc from 'fast-check';
import { labPerSuite, personRecord as person } from '../testing/import-lab.js';

/** `npm run endurance` sets both. */
const RUNS = process.env.HOSTILE_LOAD === 'long' ? 200 : 8;
const SEED = Number(process.env.HOSTILE_SEED ?? 1);

const { lab } = labPerSuite();

const ACCOUNTS = ['ann', 'ben', 'zoe'];
const isAccount = (name: string): boolean => ACCOUNTS.includes(name);
/** Readers by channel and conversation; gil is a placeholder. */
const PLACES: Readonly<Record<string, readonly string[]>> = {
  open: ['ann', 'ben', 'zoe', 'gil'],
  closed: ['ann', 'ben', 'gil'],
  direct: ['ann', 'zoe'],
  hidden: ['ben', 'gil'],
};
const PEOPLE_AND_PLACES: TestRecords = [
  ...ACCOUNTS.map((id) => person(id, { role: id === 'ann' ? 'owner' : 'member' })),
  { kind: 'person', id: 'gil', name: 'Gil' },
  { kind: 'channel', id: 'open', name: 'open', privacy: 'public', members: PLACES.open! },
  { kind: 'channel', id: 'closed', name: 'closed', privacy: 'private', members: PLACES.closed! },
  { kind: 'conversation', id: 'direct', members: PLACES.direct! },
  { kind: 'conversation', id: 'hidden', members: PLACES.hidden! },
];

const line = fc.constantFrom(
  'word '.repeat(30),
  '',
  '```',
  '~~~~ spoiler x',
  '> quote',
  '`',
  '$$',
  '    x',
  '* y',
  '[',
  '| a | b |',
);
const text = fc
  .tuple(fc.array(line, { maxLength: 8 }), fc.constantFrom(1, 1, 20, 200))
  .map(([lines, times]) => Array.from({ length: times }, () => lines.join('\n')).join('\n'));
const name = fc.constantFrom('plan.txt', 'ü [x](y) *`_~.png', 'x'.repeat(300), 'ä_'.repeat(150), '.');
const message = fc.record({
  place: fc.constantFrom(...Object.keys(PLACES)),
  sender: fc.nat(1),
  text,
  /** True for a message that shows the first file of the first message too. */
  repeats: fc.boolean(),
  /** Names of files, with their place in the text or after it, and whether the first export has their bytes. */
  files: fc.oneof(
    ...[3, 25, 60].map((maxLength) => fc.array(fc.tuple(name, fc.boolean(), fc.boolean()), { maxLength })),
  ),
});
type Message = typeof message extends fc.Arbitrary<infer T> ? T : never;

const FIRST_FILE = 'm0f0';

/** Export with the bytes of some or all files. */
function exported(messages: readonly Message[], hasAllBytes: boolean, suffix = ''): TestRecords {
  return [
    ...PEOPLE_AND_PLACES,
    ...messages.flatMap(({ place, sender, text: start, files, repeats }, number): TestRecords => {
      const ids = files.map((_, index) => `m${number}f${index}`);
      const isInText = (index: number) => files[index]![1];
      const links = ids.filter((_, index) => isInText(index)).map((id) => ({ link: 'file', id }) as const);
      return [
        {
          ...{ kind: 'message', id: `m${number}`, sender: PLACES[place]![sender]!, sentAt: 1000 + number },
          ...(place === 'open' || place === 'closed' ? { channel: place } : { conversation: place }),
          content: [start, ...links, `\nend of m${number}${suffix}`],
          files: [...ids.filter((_, index) => !isInText(index)), ...(repeats ? [FIRST_FILE] : [])],
        },
        ...files.map(([label, , hasBytes], index): TestRecords[number] => {
          const id = ids[index]!;
          const location = hasBytes
            ? { path: id }
            : hasAllBytes
              ? { path: `\0downloaded/${id}` }
              : { url: 'https://x.example' };
          return { kind: 'file', id, name: `${id}.${label}`, ...location };
        }),
      ];
    }),
  ];
}

const opened = (records: TestRecords) =>
  openRecords(
    records,
    Object.fromEntries(
      records.flatMap((record) =>
        record.kind === 'file' && record.path ? [[record.path, Buffer.from(record.id)]] : [],
      ),
    ),
  );

/** Returns the people who can read one of the messages with a file. `readersOf`: of a channel or conversation. */
function readersOfFile(id: string, messages: readonly Message[], readersOf: (place: string) => readonly string[]) {
  const number = Number(/\d+/.exec(id)![0]);
  const holders = messages.filter(({ repeats }, index) => index === number || (id === FIRST_FILE && repeats));
  return new Set(holders.flatMap(({ place }) => readersOf(place)));
}

interface Expected {
  readonly messages: readonly Message[];
  readonly records: TestRecords;
  readersOf(place: string): readonly string[];
}

/** Expects that exactly the readers of each message can read its files, and that long texts are attached as a whole. */
async function expectReadable(
  realmId: RealmId,
  realm: string,
  { messages, records, readersOf }: Expected,
): Promise<void> {
  const users = await Promise.all(ACCOUNTS.map((name) => lab.signIn(realmId, `${name}@acme.example`)));
  const found = new Map<string, ReadonlySet<string>>();
  const source = await lab.server.parley.useCase(RealmReader).open(realmId, { covers: 'all' });
  const wholeTexts = new Map<string, readonly string[]>();
  for await (const { file, messageIds, content } of source.files()) {
    // An edit replaces files, and the next sweep removes the former ones.
    if (messageIds.length === 0) continue;
    const [id = ''] = /^m\d+f\d+(?=\.)/.exec(file.name) ?? [];
    const readers: string[] = [];
    for (const [index, as] of users.entries()) {
      const { status } = await lab.server.request('GET', `/user_uploads/${encodeURI(file.pathId)}`, { as, realm });
      if (status === 200) readers.push(ACCOUNTS[index]!);
    }
    if (id === '') {
      const whole = (await textOf(content)).match(/end of m\d+/)?.[0];
      if (file.name === 'message.md') wholeTexts.set(whole ?? 'incomplete', readers);
      continue;
    }
    // An edit stores the file of two messages again for one of them.
    found.set(id, new Set([...(found.get(id) ?? []), ...readers]));
  }
  for (const [id, readers] of found)
    expect([id, ...readers].sort()).toEqual(
      [id, ...[...readersOfFile(id, messages, readersOf)].filter(isAccount)].sort(),
    );
  for (const [number, { text, place }] of messages.entries()) {
    const readers = ACCOUNTS.filter((name) => readersOf(place).includes(name));
    if (text.length > 10_000) expect(wholeTexts.get(`end of m${number}`)).toEqual(readers);
  }
  expect([...wholeTexts.keys()]).not.toContain('incomplete');
  const imported = records.flatMap((record) => (record.kind === 'file' && record.path ? record.id : []));
  expect([...found.keys()].sort()).toEqual(imported.sort());
}

async function textOf(content: AsyncIterable<Uint8Array> | null): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of content ?? []) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

async function sweep(): Promise<void> {
  lab.server.clock.advance(90 * 86_400);
  await lab.server.parley.useCase(SweepFiles).execute({ keepDetachedSeconds: 0 });
}

it('lets exactly the readers of a message read its files, also after a sweep, late files, an edit and a merge', async () => {
  let runs = 0;
  const property = fc.asyncProperty(fc.array(message, { minLength: 1, maxLength: 3 }), async (messages) => {
    const stringId = `files-${++runs}`;
    const readersOf = (place: string) => PLACES[place]!;
    const first = exported(messages, false);
    const { id: realmId } = (await lab.imported(opened(first) as never, { stringId })).realm;
    const expectFiles = async (expected: Expected) => {
      await expectReadable(realmId, stringId, expected);
      await sweep();
      await expectReadable(realmId, stringId, expected);
    };
    await expectFiles({ messages, records: first, readersOf });

    const complete = exported(messages, true);
    const plan = await lab.plan(opened(complete), { stringId });
    const [batch] = await lab.batches(realmId);
    const input = { realmId, batchId: batch!.id, source: 'test:1', messages: plan.lateMessages() };
    expect(await lab.server.parley.useCase(AddImportedFiles).execute(input)).toMatchObject({ kept: 0 });
    plan.close();
    await expectFiles({ messages, records: complete, readersOf });

    await lab.merged(realmId, opened(exported(messages, true, ', edited')));
    await expectFiles({ messages, records: complete, readersOf });

    const gil = await lab.server.storage.uow.read(realmId, ({ importedRecords }) =>
      importedRecords.list(realmId, 'person', ['gil']),
    );
    const { id: userId } = await lab.signIn(realmId, 'zoe@acme.example');
    const placeholderId = gil[0]!.targetId as UserId;
    await lab.server.parley.useCase(MergePlaceholder).execute({ realmId, placeholderId, userId, isDryRun: false });
    const afterMerge = (place: string) => readersOf(place).map((name) => (name === 'gil' ? 'zoe' : name));
    await expectFiles({ messages, records: complete, readersOf: afterMerge });
  });
  await fc.assert(property, { numRuns: RUNS, seed: SEED });
});
