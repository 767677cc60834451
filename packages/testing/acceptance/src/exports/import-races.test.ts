import type { RealmId } from '@parley/domain/kernel';
import type { TestRecords } from '@parley/import-plan/testing';
import { labPerSuite, messageRecord as message, personRecord as person } from '../testing/import-lab.js';

const { lab } = labPerSuite();

const LIVING: TestRecords = [
  { kind: 'organization', id: 'o', name: 'Acme' },
  person('ann', { role: 'owner' }),
  { kind: 'channel', id: 'c', name: 'general', privacy: 'public', members: ['ann'] },
  message('l1', 'ann', 1000, 'hello'),
];

const RECORDS: TestRecords = [
  person('ann'),
  person('dora', { avatar: 'cat' }),
  { kind: 'person', id: 'cleo', name: 'Cleo', externalId: 'x7' } as const,
  { kind: 'group', id: 'g', name: 'makers', members: ['ann', 'cleo'] } as const,
  { kind: 'channel', id: 'c', name: 'tea', privacy: 'public', members: ['ann', 'dora'], folder: 'Team' } as const,
  { kind: 'conversation', id: 'd', members: ['ann', 'dora'] } as const,
  { kind: 'emoji', id: 'e', name: 'cat', file: 'cat' } as const,
  { kind: 'file', id: 'cat', name: 'cat.png', contentType: 'image/png', path: 'cat.png' } as const,
  message('m1', 'dora', 100, 'Tea? :cat:'),
  { kind: 'message', id: 'm2', conversation: 'd', sender: 'dora', sentAt: 140, content: 'hello Ann' } as const,
].map((record) => ({ ...record, source: 'test:2' }));

const importInto = (realmId: RealmId, afterPlan = async () => {}) =>
  lab.merged(realmId, RECORDS, { claimBy: ['host'], afterPlan });

const undoIn = async (realmId: RealmId) => lab.undo(realmId, { batchId: (await lab.batches(realmId)).at(-1)!.id });

const outcomeOf = async (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    (error) => error.code ?? error,
  );

/** Makes the plan of an import, and returns the function that carries it out. */
async function planImport(realmId: RealmId): Promise<() => Promise<string>> {
  let begin = () => {};
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  let outcome: Promise<string>;
  await new Promise<void>((resolve) => {
    const afterPlan = () => {
      resolve();
      return begun;
    };
    outcome = outcomeOf(importInto(realmId, afterPlan));
  });
  return () => {
    begin();
    return outcome;
  };
}

/** Runs work, and `before` with the number of each of its units of work, counted from 0. */
async function withUnits(before: (unit: number) => Promise<void>, work: () => Promise<unknown>): Promise<string> {
  const { uow } = lab.server.storage;
  const write = uow.write.bind(uow);
  let [units, isOther] = [0, false];
  const spied = jest.spyOn(uow, 'write').mockImplementation(async (...unit) => {
    if (!isOther) {
      isOther = true;
      await before(units++);
      isOther = false;
    }
    return write(...unit);
  });
  try {
    return await outcomeOf(work());
  } finally {
    spied.mockRestore();
  }
}

async function organization(stringId: string): Promise<RealmId> {
  return (await lab.imported(LIVING, { stringId })).realm.id;
}

it('completes exactly one of several simultaneous imports of a source, whichever units they overlap at', async () => {
  const alone = await organization('alone');
  await importInto(alone);
  const expected = await lab.stateOf(alone);
  let isFirstRefused = true;
  let step = 0;
  for (; isFirstRefused; step++) {
    const realmId = await organization(`import-${step}`);
    let runOutdated: () => Promise<string>;
    const outcomes: string[] = [];
    const before = async (unit: number) => {
      if (unit === step) runOutdated = await planImport(realmId);
      else if (unit === step + 1) outcomes.push(await runOutdated());
      else if (unit === step + 2) outcomes.push(await outcomeOf(importInto(realmId)));
    };
    const first = await withUnits(before, () => importInto(realmId));
    isFirstRefused = first !== 'done';
    expect([step, ...outcomes]).toEqual([step, 'IMPORT_RUNNING', 'done']);
    if (isFirstRefused) expect([step, first]).toEqual([step, 'IMPORT_RUNNING']);
    expect(await lab.stateOf(realmId)).toEqual(expected);
  }
  expect(step).toBeGreaterThan(10);
});

it('completes exactly one of two simultaneous undos of an import, whichever unit the second one begins at', async () => {
  const alone = await organization('undone');
  await importInto(alone);
  await undoIn(alone);
  const expected = await lab.stateOf(alone);
  const firsts: string[] = [];
  while (firsts.length < 6) {
    const step = firsts.length + 1;
    const realmId = await organization(`undo-${step}`);
    await importInto(realmId);
    const before = async (unit: number) => {
      if (unit === step) expect(await outcomeOf(undoIn(realmId))).toBe('done');
    };
    firsts.push(await withUnits(before, () => undoIn(realmId)));
    expect(await lab.stateOf(realmId)).toEqual(expected);
  }
  expect(new Set(firsts)).toEqual(new Set(['IMPORT_RUNNING']));
});
