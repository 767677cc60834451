import { createTestParley, type TestParley } from './testing/index.js';

let parley: TestParley;
beforeEach(async () => {
  parley = await createTestParley();
});
afterEach(() => parley.close());

/** Records that docs/import.md shows as an example. */
async function* tickets(text = 'It works now, thanks!') {
  const source = 'tickets';
  yield { source, kind: 'person', id: 'ann', name: 'Ann Lee', externalId: 'u1' } as const;
  yield { source, kind: 'person', id: 'bob', name: 'Bob' } as const;
  yield { source, kind: 'channel', id: 'c1', name: 'support', privacy: 'public', members: ['ann', 'bob'] } as const;
  const message = { source, kind: 'message', channel: 'c1', thread: 'm1' } as const;
  yield { ...message, id: 'm1', sender: 'bob', sentAt: 1_700_000_000, content: 'Where is my order?' };
  yield { ...message, id: 'm2', sender: 'ann', sentAt: 1_700_000_060, content: text };
}

describe('parley.imports', () => {
  it('creates an organization from a stream of records, and logs its people in by external id', async () => {
    const given = { realm: 'shop', claimBy: ['host'] };
    const planned = await parley.imports.dryRun({ ...given, records: tickets() });
    expect(planned).toMatchObject({ source: 'tickets', records: 5, messages: 3, placeholders: 2 });
    expect(await parley.realms.find('shop')).toBeNull();

    const { id, report } = await parley.imports.write({ ...given, records: tickets() });
    expect(report.text).toContain('Records: 5, all accounted for');
    expect(await parley.imports.list('shop')).toEqual([
      { id, source: 'tickets', startedAt: parley.clock.now(), status: 'complete', messages: 3 },
    ]);

    await parley.users.upsert({ realm: 'shop', externalId: 'u1', name: 'Ann Lee' });
    const ann = parley.as({ realm: 'shop', externalId: 'u1' });
    const messages = await ann.messages.list({ channel: 'support', topic: 'Where is my order?' }).toArray();
    expect(messages.map(({ sender, content }) => [sender.externalId ?? sender.name, content])).toEqual([
      ['Bob', 'Where is my order?'],
      ['u1', 'It works now, thanks!'],
    ]);
  });

  it('adds new records to an existing organization', async () => {
    const { id: first } = await parley.imports.write({ realm: 'shop', records: tickets() });
    async function* later() {
      yield* tickets();
      const message = { source: 'tickets', kind: 'message', channel: 'c1', thread: 'm1' } as const;
      yield { ...message, id: 'm3', sender: 'bob', sentAt: 1_700_000_120, content: 'Great' };
    }
    expect(await parley.imports.dryRun({ realm: 'shop', records: later() })).toMatchObject({ messages: 1 });
    const { id } = await parley.imports.write({ realm: 'shop', records: later() });
    expect(id).toBeGreaterThan(first!);
    expect(await parley.imports.list('shop')).toMatchObject([{ messages: 3 }, { id, messages: 1 }]);
    expect(await parley.imports.write({ realm: 'shop', records: later() })).toMatchObject({ id: null });
  });

  it('compares and undoes an import', async () => {
    const id = (await parley.imports.write({ realm: 'shop', records: tickets() })).id!;
    const verify = (text?: string) => parley.imports.verify({ realm: 'shop', id, records: tickets(text) });
    expect(await verify()).toMatchObject({ differences: [], addedReaders: [] });
    expect((await verify('Really?')).differences).toEqual([
      { kind: 'message', difference: 'differs in the export', count: 1, examples: ['m2'] },
    ]);
    expect(await parley.imports.undo({ realm: 'shop', id, isDryRun: true })).toMatchObject({ removed: 3 });
    expect(await parley.imports.undo({ realm: 'shop', id })).toMatchObject({ removed: 3, kept: 0 });
    expect(await parley.imports.list('shop')).toMatchObject([{ status: 'undone' }]);
  });

  it.each([
    [{ realm: 7, records: [] }, 'INVALID_ARGUMENT'],
    [{ realm: 'shop', records: 7 }, 'INVALID_ARGUMENT'],
    [{ realm: 'shop', records: [], people: [{ person: 'ann' }] }, 'INVALID_ARGUMENT'],
    [{ realm: 'shop', records: [], people: [{ person: 'ann', email: 'ann at home' }] }, 'INVALID_ARGUMENT'],
    [{ realm: 'shop', records: [], people: 'ann' }, 'INVALID_ARGUMENT'],
    [{ realm: 'shop', records: [], claimBy: 'host' }, 'INVALID_ARGUMENT'],
    [{ realm: 'shop', records: [] }, 'INVALID_IMPORT'],
    [{ realm: 'shop', records: [{ source: 's', kind: 'person', id: 'x' }] }, 'INVALID_IMPORT'],
  ])('rejects %j with %s', async (records, code) => {
    await expect(parley.imports.write(records as never)).rejects.toMatchObject({ code });
  });

  it('rejects unknown organizations and imports', async () => {
    await expect(parley.imports.list('nowhere')).rejects.toMatchObject({ code: 'UNKNOWN_REALM' });
    await parley.realms.ensure({ name: 'shop' });
    await expect(parley.imports.undo({ realm: 'shop', id: 9 })).rejects.toMatchObject({ code: 'UNKNOWN_IMPORT' });
  });
});
