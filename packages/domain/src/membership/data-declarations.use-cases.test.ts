import { anotherRealm, createFixture } from '@parley/testkit';
import type { DataFilter, DataKey, DataKeyId } from '../kernel/data-keys.js';
import type { RealmId } from '../kernel/ids.js';
import type { UnitOfWork } from '../kernel/unit-of-work.js';
import { FindByData, ReportUnsupportedSchemas } from './data-declarations.use-cases.js';

const realmId = 1 as RealmId;
const KEYS: readonly DataKey[] = ['state', 'team', 'orderId'].map((name, index) => ({
  ...{ id: (index + 1) as DataKeyId, kind: 'user', name, type: 'string', isIndexed: true },
}));

/** Index with the ascending ids of the objects per filter; counts the ids read. */
function indexOf(objects: Readonly<Record<string, readonly number[]>>) {
  const read = { ids: 0 };
  const dataKeys = {
    list: async () => KEYS,
    async listObjects(_: RealmId, { key, value }: DataFilter, after: number, limit: number) {
      const page = (objects[`${key.name}=${value}`] ?? []).filter((id) => id > after).slice(0, limit);
      read.ids += page.length;
      return page;
    },
  };
  const uow = { read: (_: RealmId, work: (repositories: object) => unknown) => work({ dataKeys }) };
  return { find: new FindByData(uow as unknown as UnitOfWork), read };
}

async function allOf(find: FindByData, ...filters: string[]): Promise<readonly number[]> {
  const ids: number[] = [];
  for await (const page of find.execute(realmId, 'user', filters)) ids.push(...page);
  return ids;
}

const every = (step: number, last: number) => Array.from({ length: last / step }, (_, n) => (n + 1) * step);

describe('find by data', () => {
  const objects = {
    'state=open': every(1, 100_000),
    'team=even': every(2, 100_000),
    'team=third': every(3, 90_000),
    'orderId=7': [90_001],
    'orderId=8': [3, 500, 501, 80_000],
    'orderId=9': every(5, 2500),
  };

  it.each<[filters: string[], ids: readonly number[]]>([
    [['orderId=8'], [3, 500, 501, 80_000]],
    [['orderId=9'], every(5, 2500)],
    [
      ['state=open', 'orderId=8'],
      [3, 500, 501, 80_000],
    ],
    [
      ['orderId=8', 'state=open'],
      [3, 500, 501, 80_000],
    ],
    [
      ['team=even', 'orderId=8'],
      [500, 80_000],
    ],
    [['team=third', 'state=open'], every(3, 90_000)],
    [['team=even', 'orderId=9', 'state=open'], every(10, 2500)],
    [['orderId=7', 'team=third'], []],
    [['orderId=none'], []],
    [['state=open', 'orderId=none'], []],
  ])('yields the objects that match %j, ascending', async (filters, ids) => {
    expect(await allOf(indexOf(objects).find, ...filters)).toEqual(ids);
  });

  it('reads a page of a frequent value for each object with a rare one', async () => {
    const { find, read } = indexOf(objects);
    expect(await allOf(find, 'state=open', 'orderId=7')).toEqual([90_001]);
    expect(read.ids).toBeLessThan(1100);
  });

  it('reads the next page only when the caller continues', async () => {
    const { find, read } = indexOf(objects);
    for await (const page of find.execute(realmId, 'user', ['state=open'])) {
      expect(page).toHaveLength(500);
      break;
    }
    expect(read.ids).toBe(500);
  });

  it('rejects filters by unknown keys', async () => {
    await expect(allOf(indexOf(objects).find, 'none=7')).rejects.toMatchObject({ code: 'INVALID_DATA_FILTER' });
  });
});

describe('report of unsupported schemas', () => {
  it('names each organization with a stored schema that no application could declare now', async () => {
    const fixture = await createFixture();
    const { realm: other } = await anotherRealm(fixture);
    const schemas = { message: '{}', channel: '{"$async":true}', user: '{', realm: '{"pattern":"a"}' } as const;
    for (const [kind, schema] of Object.entries(schemas)) {
      await fixture.uow.write(other.id, (tx) => tx.dataSchemas.add({ realmId: other.id, kind: kind as never, schema }));
    }
    const validator = { schemaProblem: (schema: string) => (schema.includes('pattern') ? 'no' : null) };
    const report = jest.fn();
    await new ReportUnsupportedSchemas(fixture.uow, validator as never, report).execute();
    expect(report.mock.calls.map(([, { organization, problem }]) => [organization, problem])).toEqual([
      ['other', 'The schema for data of each channel is invalid: the keyword $async is not supported here.'],
      ['other', 'The schema for data of each user is invalid: it is not JSON.'],
      ['other', 'The schema for data of each realm is invalid: no.'],
    ]);
  });
});
