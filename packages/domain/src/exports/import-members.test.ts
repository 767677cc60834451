import { aChannel, aUser, createFixture, type MemoryFixture } from '@parley/testkit';
import { subscribeToChannels, unsubscribeFromChannels } from '../channels/subscribing.js';
import type { UserId } from '../kernel/ids.js';
import type { UnitOfWork } from '../kernel/unit-of-work.js';
import { beginBatch, type ImportBatch, unitsOf } from './import-batches.js';
import { ImportedIds } from './import-ids.js';
import { MemberImport, membershipsOf, rememberMembers, undoMembers } from './import-members.js';
import type { MembersCopy, RealmSource } from './realm-copy.js';

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

const UNDO = { isDryRun: false, onReverted: () => {} };

describe('undoMembers', () => {
  it('reverts only the subscriptions that the import changed', async () => {
    const stage = await Stage.set();
    await stage.setSubscribed('cleo', false);
    await stage.apply({ members: ['ann', 'dora'], joined: ['ann'], left: ['bob', 'cleo'] });
    await undoMembers(stage.fixture.uow, stage.batch, UNDO);
    expect(await stage.subscribers()).toEqual(['bob', 'dora']);
    expect(await stage.states()).toEqual({ ann: undefined, bob: 'joined', cleo: 'joined', dora: 'joined' });
  });

  it('forgets the digest of the members, so that the next import compares them again', async () => {
    const stage = await Stage.set();
    const { uow, realm } = stage.fixture;
    const digests = () => uow.read(realm.id, ({ importedRecords }) => importedRecords.list(realm.id, 'members', ['s']));
    await stage.apply({ members: ['bob', 'cleo', 'dora'] });
    expect(await digests()).toMatchObject([{ hash: 'new', targetId: stage.channelId }]);
    await undoMembers(uow, stage.batch, UNDO);
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
    await undoMembers(uow, stage.batch, UNDO);
    expect(await stage.subscribers()).toEqual(NAMES);
    expect(await stage.states()).toMatchObject({ ann: 'joined' });
  });
});
