import { subscribeToChannels, unsubscribeFromChannels } from '@parley/domain/channels';
import { beginBatch, type ImportBatch, type ImportedRecord, unitsOf } from '@parley/domain/exports';
import type { ChannelId, GroupId, UnitOfWork, UserId } from '@parley/domain/kernel';
import { aChannel, aUser, createFixture, type MemoryFixture } from '@parley/testkit';
import type { MembersCopy, RealmSource } from '../exports/realm-copy.js';
import { ImportedIds } from './import-ids.js';
import { MemberImport, membershipsOf, rememberMembers } from './import-members.js';
import { type RevertedMembership, undoMembers } from './undo-members.js';

const NAMES = ['ann', 'bob', 'cleo', 'dora'];

/** Channel `secret` of a complete import with the members Bob, Cleo and Dora, and a newer, running import. */
class Stage {
  private constructor(
    readonly fixture: MemoryFixture,
    readonly earlier: ImportBatch,
    readonly batch: ImportBatch,
    private readonly units: UnitOfWork,
    private readonly ids: ImportedIds,
  ) {}

  static async set(): Promise<Stage> {
    const members = ['bob', 'cleo', 'dora'];
    const people = NAMES.map((name) => aUser({ name }));
    const fixture = await createFixture(
      ...people,
      aChannel({ name: 'secret', subscribers: members, privacy: 'privateSharedHistory' }),
    );
    const { uow, realm } = fixture;
    const realmId = realm.id;
    const begin = () =>
      uow.write(realmId, (tx) => beginBatch(tx, { realmId, source: 'test:1', startedAt: 1, createdRealm: false }));
    const earlier = await begin();
    const channelId = fixture.channel('secret').id;
    const source = {
      realm: { realm: { id: realmId }, groups: [] },
      people: async function* () {
        for (const name of members) yield { userId: fixture.user(name).id, subscriptions: [{ channelId }] };
      },
    } as unknown as RealmSource;
    const ids = new ImportedIds(realmId, source);
    ids.users.keep(NAMES.map((name) => fixture.user(name).id));
    ids.channels.keep([channelId]);
    await rememberMembers(uow, earlier, ids, source);
    await uow.write(realmId, (tx) => tx.importBatches.update({ ...earlier, status: 'complete' }));
    const batch = await begin();
    return new Stage(fixture, earlier, batch, unitsOf(uow, batch), ids);
  }

  get channelId() {
    return this.fixture.channel('secret').id;
  }

  idsOf(names: readonly string[]): readonly UserId[] {
    return names.map((name) => this.fixture.user(name).id);
  }

  apply(change: {
    members: string[];
    joined?: string[];
    left?: string[];
    kept?: string[];
    becomesPrivate?: boolean;
  }): Promise<void> {
    const { members, joined = [], left = [], kept = [], becomesPrivate = false } = change;
    const copy: MembersCopy = {
      ...{ channelId: this.channelId, origin: { kind: 'members', recordId: 's', hash: 'new' }, becomesPrivate },
      ...{ members: this.idsOf(members), joined: this.idsOf(joined), left: this.idsOf(left), kept: this.idsOf(kept) },
    };
    return new MemberImport(this.units, this.batch, this.ids).apply({ memberChanges: [copy], groupChanges: [] });
  }

  async subscribers(): Promise<readonly string[]> {
    const { uow, realm } = this.fixture;
    const all = await uow.read(realm.id, ({ channels }) => channels.listSubscribers(realm.id, [this.channelId]));
    return NAMES.filter((name) => all.get(this.channelId)!.includes(this.fixture.user(name).id));
  }

  async states(): Promise<Readonly<Record<string, string | undefined>>> {
    const states = await membershipsOf(this.fixture.uow, [this.earlier, this.batch], {
      ...{ kind: 'membership', targetId: this.channelId },
    });
    return Object.fromEntries(NAMES.map((name) => [name, states.get(this.fixture.user(name).id)]));
  }

  /** Changes the subscription of a user as people do. */
  async setSubscribed(name: string, isActive: boolean): Promise<void> {
    const { uow, realm } = this.fixture;
    const userIds = this.idsOf([name]);
    await uow.write(realm.id, async (tx) => {
      const channels = await tx.channels.list(realm.id, [this.channelId]);
      if (isActive) await subscribeToChannels(tx, { channels, userIds, requestedColors: new Map() });
      else await unsubscribeFromChannels(tx, channels, userIds);
    });
  }
}

describe('MemberImport', () => {
  it('subscribes people who joined, unsubscribes people who left, and remembers both', async () => {
    const stage = await Stage.set();
    await stage.apply({ members: ['ann', 'cleo', 'dora'], joined: ['ann'], left: ['bob'] });
    expect(await stage.subscribers()).toEqual(['ann', 'cleo', 'dora']);
    expect(await stage.states()).toEqual({ ann: 'joined', bob: 'left', cleo: 'joined', dora: 'joined' });
  });

  it('remembers that people had subscribed or unsubscribed a member before', async () => {
    const stage = await Stage.set();
    await stage.setSubscribed('ann', true);
    await stage.setSubscribed('bob', false);
    await stage.apply({ members: ['ann', 'cleo'], joined: ['ann'], left: ['bob'], kept: ['dora'] });
    expect(await stage.subscribers()).toEqual(['ann', 'cleo', 'dora']);
    expect(await stage.states()).toEqual({ ann: 'present', bob: 'absent', cleo: 'joined', dora: 'absent' });
  });

  it('removes a channel that becomes private from the default channels and their groups', async () => {
    const stage = await Stage.set();
    const { uow, realm } = stage.fixture;
    const [realmId, channelIds] = [realm.id, [stage.channelId]];
    await uow.write(realmId, async (tx) => {
      const [channel] = await tx.channels.list(realmId, channelIds);
      await tx.channels.update({ ...channel!, privacy: 'public', isDefault: true });
      await tx.defaultChannelGroups.add({ realmId, name: 'sales', description: '', channelIds });
    });
    await stage.apply({ members: ['bob', 'cleo', 'dora'], becomesPrivate: true });
    await uow.read(realmId, async ({ channels, defaultChannelGroups }) => {
      const closed = { privacy: 'privateSharedHistory', isDefault: false };
      expect(await channels.list(realmId, channelIds)).toMatchObject([closed]);
      expect(await defaultChannelGroups.list(realmId)).toMatchObject([{ channelIds: [] }]);
    });
  });

  it('refuses to change members once the import was cancelled', async () => {
    const stage = await Stage.set();
    const { uow, realm } = stage.fixture;
    await uow.write(realm.id, (tx) => tx.importBatches.update({ ...stage.batch, status: 'undoing' }));
    const applied = stage.apply({ members: [], left: ['bob'] });
    await expect(applied).rejects.toMatchObject({ code: 'IMPORT_CANCELLED' });
    expect(await stage.subscribers()).toEqual(['bob', 'cleo', 'dora']);
  });
});

async function undo(uow: UnitOfWork, batch: ImportBatch): Promise<readonly (readonly RevertedMembership[])[]> {
  const yielded: (readonly RevertedMembership[])[] = [];
  for await (const reverted of undoMembers(uow, batch, false)) yielded.push(reverted);
  return yielded;
}

/** Records the number of changed records in each of the following units of work. */
function sizesOfUnits(uow: UnitOfWork, method: 'put' | 'remove'): readonly number[] {
  const write = uow.write.bind(uow);
  const sizes: number[] = [];
  jest.spyOn(uow, 'write').mockImplementation((realmId, work, options) => {
    const measured: typeof work = async (tx) => {
      const calls = jest.spyOn(tx.importedRecords, method);
      const result = await work(tx);
      sizes.push(calls.mock.calls.reduce((sum, [, records]) => sum + records.length, 0));
      calls.mockRestore();
      return result;
    };
    return write(realmId, measured, options);
  });
  return sizes;
}

describe('rememberMembers', () => {
  it('remembers the members of groups and channels in units of limited size', async () => {
    const fixture = await createFixture(aUser({ name: 'ann' }));
    const { uow, realm } = fixture;
    const realmId = realm.id;
    const userIds = Array.from({ length: 1200 }, (_, n) => (n + 1) as UserId);
    const groups = [1, 2, 3].map((id) => ({ id: id as GroupId, memberIds: userIds, systemName: null }));
    const source = {
      realm: { realm: { id: realmId }, groups: [...groups, { ...groups[0]!, systemName: 'everyone' }] },
      people: async function* () {
        for (const userId of userIds) yield { userId, subscriptions: [{ channelId: 1 as ChannelId }] };
      },
    } as unknown as RealmSource;
    const ids = new ImportedIds(realmId, source);
    ids.users.keep(userIds);
    ids.groups.keep(groups.map(({ id }) => id));
    ids.channels.keep([1 as ChannelId]);
    const batch = await uow.write(realmId, (tx) =>
      beginBatch(tx, { realmId, source: 'test:1', startedAt: 1, createdRealm: true }),
    );
    const sizes = sizesOfUnits(uow, 'put');
    await rememberMembers(uow, batch, ids, source);
    expect(Math.max(...sizes)).toBe(500);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(4 * 1200);
  });
});

describe('undoMembers', () => {
  it('reverts only the subscriptions that the import changed', async () => {
    const stage = await Stage.set();
    await stage.setSubscribed('cleo', false);
    await stage.apply({ members: ['ann', 'dora'], joined: ['ann'], left: ['bob', 'cleo'] });
    await undo(stage.fixture.uow, stage.batch);
    expect(await stage.subscribers()).toEqual(['bob', 'dora']);
    expect(await stage.states()).toEqual({ ann: undefined, bob: 'joined', cleo: 'joined', dora: 'joined' });
  });

  it('forgets the digest of the members, so that the next import compares them again', async () => {
    const stage = await Stage.set();
    const { uow, realm } = stage.fixture;
    const digests = () => uow.read(realm.id, ({ importedRecords }) => importedRecords.list(realm.id, 'members', ['s']));
    await stage.apply({ members: ['bob', 'cleo', 'dora'] });
    expect(await digests()).toMatchObject([{ hash: 'new', targetId: stage.channelId }]);
    await undo(uow, stage.batch);
    expect(await digests()).toEqual([]);
  });

  it('keeps the members of channels that the import created', async () => {
    const stage = await Stage.set();
    const { uow, realm } = stage.fixture;
    const created = { batchId: stage.batch.id, recordId: 's', hash: '', editedAt: null, reactions: 0 };
    await uow.write(realm.id, (tx) =>
      tx.importedRecords.put(realm.id, [{ ...created, kind: 'channel', targetId: stage.channelId }]),
    );
    await stage.apply({ members: NAMES, joined: ['ann'] });
    const write = jest.spyOn(uow, 'write');
    await undo(uow, stage.batch);
    expect(write).not.toHaveBeenCalled();
    expect(await stage.subscribers()).toEqual(NAMES);
    expect(await stage.states()).toMatchObject({ ann: 'joined' });
  });

  it('changes one channel per unit of work', async () => {
    const stage = await Stage.set();
    const { uow, realm } = stage.fixture;
    await stage.apply({ members: NAMES, joined: ['ann'] });
    const userId = stage.fixture.user('ann').id;
    const more = await uow.write(realm.id, async (tx) => {
      const secret = (await tx.channels.find(realm.id, stage.channelId))!;
      const channels = [];
      for (const name of ['one', 'two']) channels.push(await tx.channels.add({ ...secret, name }));
      await subscribeToChannels(tx, { channels, userIds: [userId], requestedColors: new Map() });
      const record = { batchId: stage.batch.id, kind: 'membership', hash: 'joined', editedAt: null, reactions: 0 };
      await tx.importedRecords.put(
        realm.id,
        channels.map(({ id }) => ({ ...record, targetId: id, recordId: `${id} ${userId}` }) as ImportedRecord),
      );
      return channels;
    });
    const sizes = sizesOfUnits(uow, 'remove');
    const yielded = await undo(uow, stage.batch);
    // The last unit removes the digest.
    expect(sizes).toEqual([1, 1, 1, 1]);
    expect(yielded.filter(({ length }) => length > 0)).toEqual(
      [stage.channelId, ...more.map(({ id }) => id)].map((channelId) => [
        { channelId, groupId: null, userId, isMember: false },
      ]),
    );
  });

  it('yields after each page of records, so that long undos keep their lease', async () => {
    const stage = await Stage.set();
    await stage.apply({ members: ['bob', 'cleo', 'dora'] });
    expect(await undo(stage.fixture.uow, stage.batch)).toEqual([[], []]);
  });

  it('reads no memberships of an import that created its organization', async () => {
    const stage = await Stage.set();
    const { uow } = stage.fixture;
    const reads = jest.spyOn(uow, 'read');
    expect(await undo(uow, { ...stage.earlier, createdRealm: true })).toEqual([]);
    expect(reads).not.toHaveBeenCalled();
  });
});
