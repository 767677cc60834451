import { EXPORT_PARTS, ROWS } from '@parley/domain/composition';
import type { RealmExport } from '@parley/domain/exports';
import type { BlobKey } from '@parley/domain/files';
import type { IdKind, MessageId, RealmRow, UserId, UserRow } from '@parley/domain/kernel';
import type { ProfileField } from '@parley/domain/users';
import type { Draft } from '@parley/domain/writing';
import { anotherRealm, aUser, type Fixture } from '../builders.js';
import type { MemoryRows } from '../memory/memory-rows.js';
import { code, type OpenStorage, stagesOn } from './storage-under-test.js';

type Name = keyof typeof ROWS;
type Fields<Row> = Omit<Row, keyof UserRow>;
type Pair = readonly [first: object, second: object];

/** Declared columns by repository: `ROW_TABLES` of `storage`. */
export type DeclaredTables = Readonly<Record<Name, DeclaredTable>>;

interface DeclaredTable {
  readonly columns: readonly {
    readonly property: string;
    readonly type: string;
    readonly isOptional: boolean;
  }[];
  unpack(stored: object, quarantine: never): object;
}

/** Declared repository with parameters of either owner. */
type AnyRows = MemoryRows<RealmRow>;

const PROFILE_FIELD = { isRequired: false, isEditableByUser: true, isForMatching: false, isInSummary: false };

/** Sample rows of tables with columns that accept only some texts. */
const SAMPLES: Partial<Readonly<Record<Name, Pair>>> = {
  exports: [
    {
      ...{ actingUserId: 3 as UserId, type: 'withConsent', requestedAt: 7, pathId: 'one' },
      state: { status: 'complete', blob: 'a' as BlobKey, size: 12 },
    },
    { actingUserId: 3 as UserId, type: 'public', requestedAt: 7, pathId: 'two', state: { status: 'failed', at: 9 } },
  ] satisfies [Fields<RealmExport>, Fields<RealmExport>],
  profileFields: [
    { ...PROFILE_FIELD, name: 'one', kind: 'shortText', hint: '', data: {}, isInSummary: true },
    {
      ...{ ...PROFILE_FIELD, name: 'two', kind: 'choice', hint: 'An editor', isRequired: true, isForMatching: true },
      data: { '0': { text: 'VIM', order: '1' }, '10': { text: 'Émacs', order: '2' } },
    },
  ] satisfies [Fields<Omit<ProfileField, 'order'>>, Fields<Omit<ProfileField, 'order'>>],
};

/** Quarantine that accepts every value. */
const TRUSTING = { word: (value: unknown) => value, report: () => {} } as never;

/** Returns two rows in list order that differ in every column. */
function samplesOf(name: Name, table: DeclaredTable): Pair {
  const { order, place, unique } = ROWS[name];
  const rowOf = (position: 0 | 1) => {
    let optional: number = position;
    const values = table.columns.flatMap(({ property, type, isOptional }, column) => {
      if (property === place) return [];
      if (isOptional && optional++ % 2 === 1) return [[property, null]];
      const isFirst = (position === 0) !== (order[0] === `-${property}`);
      return [
        [property, property === unique?.unless ? false : sampleValue(type, `${property} é`, column * 10, isFirst)],
      ];
    });
    return table.unpack(Object.fromEntries(values), TRUSTING);
  };
  return SAMPLES[name] ?? [rowOf(0), rowOf(1)];
}

function sampleValue(type: string, text: string, number: number, isFirst: boolean): unknown {
  const n = number + (isFirst ? 1 : 2);
  if (type === 'flag') return isFirst;
  if (type === 'ids') return isFirst ? [n, number + 9] : [n];
  if (type === 'texts') return isFirst ? [`${text}, 1`, '"2'] : [];
  if (type === 'text') return `${text}${isFirst ? 1 : 2}`;
  return type === 'real' ? n + 0.25 : n;
}

const EXPORTED_KINDS = new Set([...EXPORT_PARTS.people, ...EXPORT_PARTS.realm].flatMap(({ idKinds = [] }) => idKinds));

const pieces = [aUser({ name: 'a' }), aUser({ name: 'b' })];

export function rowsContract(open: OpenStorage, tables: DeclaredTables): void {
  describe.each(Object.keys(ROWS) as Name[])('%s repository', (name) => {
    const stage = stagesOn(open);
    const [first, second] = samplesOf(name, tables[name]);
    const { kind, owner, foundBy, place, unique, message, texts = [] } = ROWS[name];
    const bytes = [first, second]
      .flatMap((row) => texts.map((text) => (row as Readonly<Record<string, string>>)[text]!))
      .reduce((sum, text) => sum + Buffer.byteLength(text), 0);
    const ownerOf = ({ realm, user }: Fixture, who: string): readonly number[] =>
      owner === 'user' ? [realm.id, user(who).id] : [realm.id];
    const finderOf = (fixture: Fixture, who: string) =>
      ownerOf(fixture, who).slice(0, foundBy === 'realm' ? 1 : undefined);
    const write = <T>({ uow, realm }: Fixture, work: (rows: AnyRows) => Promise<T>, realmId = realm.id) =>
      uow.write(realmId, (tx) => work(tx[name] as object as AnyRows));
    const add = (fixture: Fixture, who: string, fields: object) => {
      const own = { realmId: fixture.realm.id, ...(owner === 'user' && { userId: fixture.user(who).id }) };
      return write(fixture, (rows) => rows.add({ ...fields, ...own }));
    };
    const list = (fixture: Fixture, who = 'a') => write(fixture, (rows) => rows.list(...ownerOf(fixture, who)));

    it('stores and changes every property', async () => {
      const fixture = await stage(...pieces);
      const added = await add(fixture, 'a', first);
      const find = () => write(fixture, (rows) => rows.find(...finderOf(fixture, 'a'), added.id));
      expect(await find()).toEqual(added);
      expect(added).toMatchObject(first);
      const changed = { ...added, ...second };
      await write(fixture, (rows) => rows.update(changed));
      expect(await find()).toEqual(changed);
    });

    it("lists and counts an owner's rows", async () => {
      const fixture = await stage(...pieces);
      const rows = [await add(fixture, 'a', second), await add(fixture, 'a', first)];
      expect(new Set(await list(fixture))).toEqual(new Set(rows));
      expect(await write(fixture, (r) => r.count(...ownerOf(fixture, 'a')))).toBe(2);
    });

    it('removes a row and ignores changes of missing rows', async () => {
      const fixture = await stage(...pieces);
      const removed = await add(fixture, 'a', first);
      const kept = await add(fixture, 'a', second);
      await write(fixture, (rows) => rows.remove(...finderOf(fixture, 'a'), removed.id));
      await write(fixture, (rows) => rows.update(removed));
      expect(await list(fixture)).toEqual([kept]);
    });

    if (EXPORTED_KINDS.has(kind as IdKind)) {
      it('assigns ids from the raised minimum on', async () => {
        const fixture = await stage(...pieces);
        await fixture.uow.writeAcross((tx) => tx.copies.raiseIds(kind as IdKind, 41));
        expect([(await add(fixture, 'a', first)).id, (await add(fixture, 'a', second)).id]).toEqual([41, 42]);
      });
    }

    it('isolates realms', async () => {
      const fixture = await stage(...pieces);
      const added = await add(fixture, 'a', first);
      const { realm } = await anotherRealm(fixture);
      const there = [realm.id, ...ownerOf(fixture, 'a').slice(1)];
      await write(
        fixture,
        async (rows) => {
          const finder = [realm.id, ...finderOf(fixture, 'a').slice(1)];
          expect(await rows.find(...finder, added.id)).toBeNull();
          expect(await rows.list(...there)).toEqual([]);
          expect(await rows.count(...there)).toBe(0);
          await rows.remove(...finder, added.id);
          await rows.update({ ...added, ...second, realmId: realm.id });
        },
        realm.id,
      );
      expect(await list(fixture)).toEqual([added]);
    });

    if (owner === 'user') {
      it("isolates users, limits lists, counts bytes and removes all of a user's rows", async () => {
        const fixture = await stage(...pieces);
        const [a, b] = [ownerOf(fixture, 'a'), ownerOf(fixture, 'b')];
        const rows = [await add(fixture, 'a', first), await add(fixture, 'a', second)];
        const others = await add(fixture, 'b', first);
        await write(fixture, async (r) => {
          expect(await r.list(...a)).toEqual(rows);
          expect(await r.list(...a, 1)).toEqual([rows[0]]);
          expect(await r.list(...b)).toEqual([others]);
          expect(await r.countBytes(...a)).toBe(bytes);
          if (!foundBy) {
            expect(await r.find(...b, rows[0]!.id)).toBeNull();
            await r.remove(...b, rows[0]!.id);
          }
          await r.update({ ...rows[0]!, ...second, userId: fixture.user('b').id } as RealmRow);
          expect(await r.list(...a)).toEqual(rows);
          await r.removeAll(...a);
          expect([await r.list(...a), await r.list(...b)]).toEqual([[], [others]]);
          expect(await r.countBytes(...a)).toBe(0);
        });
      });
    }

    if (place !== undefined) {
      it('places a new row last, unless it has a place', async () => {
        const fixture = await stage(...pieces);
        const last = await add(fixture, 'a', first);
        const placed = await add(fixture, 'a', { ...second, [place]: 0 });
        expect(last).toMatchObject({ [place]: last.id });
        expect(await list(fixture)).toEqual([placed, last]);
      });
    }

    if (message !== undefined) {
      it('finds the rows of all owners about a message, oldest first', async () => {
        const fixture = await stage(...pieces);
        const other = await anotherRealm(fixture);
        const about = (who: string, id: number) => add(fixture, who, { ...first, [message]: id });
        const rows = [await about('b', 12), await about('a', 12), await about('b', 12)] as const;
        await about('a', 11);
        const ids = [13, 12, 11] as MessageId[];
        await write(fixture, async (r) => {
          const { realm } = fixture;
          expect(await r.filterMessages(realm.id, ids)).toEqual([11, 12]);
          expect(await r.listOfMessage(realm.id, ids[1]!, 0, 2)).toEqual(rows.slice(0, 2));
          expect(await r.listOfMessage(realm.id, ids[1]!, rows[1].id, 2)).toEqual(rows.slice(2));
        });
        await write(
          fixture,
          async (r) => {
            expect(await r.filterMessages(other.realm.id, ids)).toEqual([]);
            expect(await r.listOfMessage(other.realm.id, ids[1]!, 0, 2)).toEqual([]);
          },
          other.realm.id,
        );
      });
    }

    if (unique) {
      const keyOf = (fields: object) => (fields as Readonly<Record<string, string>>)[unique.property]!;
      const spelled = (key: string) => (unique.ignoresCase ? key.toUpperCase() : key);

      it('finds a row by its unique key and rejects rows with the key of another one', async () => {
        const fixture = await stage(...pieces);
        const { realm } = fixture;
        const added = await add(fixture, 'a', first);
        const other = await add(fixture, 'a', second);
        const sameKey = { [unique.property]: spelled(keyOf(first)) };
        const taken = code(unique.taken('').code);
        await expect(add(fixture, 'a', { ...second, ...sameKey })).rejects.toEqual(taken);
        await expect(write(fixture, (rows) => rows.update({ ...other, ...sameKey }))).rejects.toEqual(taken);
        const changed = { ...added, ...sameKey };
        await write(fixture, (rows) => rows.update(changed));
        await write(fixture, async (rows) => {
          expect(await rows.findByKey(realm.id, keyOf(first))).toEqual(changed);
          expect(await rows.findByKey(realm.id, `${keyOf(first)}x`)).toBeNull();
        });
        const elsewhere = await anotherRealm(fixture);
        await write(
          elsewhere,
          async (rows) => {
            expect(await rows.findByKey(elsewhere.realm.id, keyOf(first))).toBeNull();
            await rows.add({ ...first, realmId: elsewhere.realm.id });
          },
          elsewhere.realm.id,
        );
      });
    }
  });

  describe('user row repository', () => {
    const stage = stagesOn(open);
    const draftOf = ({ realm, user }: Fixture, editedAt: number, content = ''): Omit<Draft, 'id'> => {
      return { realmId: realm.id, userId: user('a').id, to: { kind: 'nobody' }, content, editedAt };
    };

    it('sorts by several properties, in descending order for a minus sign', async () => {
      const fixture = await stage(...pieces);
      const add = (editedAt: number) =>
        fixture.uow.write(fixture.realm.id, (tx) => tx.drafts.add(draftOf(fixture, editedAt)));
      const [old, newer, alsoOld] = [await add(100), await add(100.5), await add(100)];
      const { realm, user } = fixture;
      const listed = await fixture.uow.read(realm.id, ({ drafts }) => drafts.list(realm.id, user('a').id));
      expect(listed).toEqual([newer, alsoOld, old]);
    });

    it('sorts texts by code points', async () => {
      const { uow, realm } = await stage();
      const names = await uow.write(realm.id, async ({ defaultChannelGroups }) => {
        for (const name of ['late', 'Zoë', 'ärger', 'early'])
          await defaultChannelGroups.add({ realmId: realm.id, name, description: '', channelIds: [] });
        return (await defaultChannelGroups.list(realm.id)).map(({ name }) => name);
      });
      expect(names).toEqual(['Zoë', 'early', 'late', 'ärger']);
    });

    it('never reuses the ids of removed drafts and snippets', async () => {
      const fixture = await stage(...pieces);
      const { realm, user } = fixture;
      await fixture.uow.write(realm.id, async (tx) => {
        const snippet = { realmId: realm.id, userId: user('a').id, title: '', content: '', createdAt: 0 };
        const before = [await tx.drafts.add(draftOf(fixture, 0)), await tx.snippets.add(snippet)] as const;
        await tx.drafts.removeAll(realm.id, user('a').id);
        await tx.snippets.remove(realm.id, user('a').id, before[1].id);
        expect((await tx.drafts.add(draftOf(fixture, 0))).id).toBeGreaterThan(before[0].id);
        expect((await tx.snippets.add(snippet)).id).toBeGreaterThan(before[1].id);
      });
    });

    it('counts bytes, even after a zero byte', async () => {
      const fixture = await stage(...pieces);
      const { realm, user } = fixture;
      const bytes = await fixture.uow.write(realm.id, async (tx) => {
        await tx.drafts.add(draftOf(fixture, 100, 'a\0é'));
        return tx.drafts.countBytes(realm.id, user('a').id);
      });
      // Storages that cannot store zero bytes replace them.
      expect([4, 6]).toContain(bytes);
    });
  });
}
