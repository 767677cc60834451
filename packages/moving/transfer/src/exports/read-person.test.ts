import { EXPORT_PARTS } from '@parley/domain/composition';
import type { Repositories } from '@parley/domain/kernel';
import {
  aChannel,
  aMessage,
  aUser,
  createFixture,
  intercepting,
  MemoryBlobStore,
  type MemoryFixture,
} from '@parley/testkit';
import { PersonReader } from './read-person.js';

/** Repositories without data of one person, or with data that another field contains. */
const NOT_READ: Readonly<Record<string, string>> = {
  accessTokens: 'secrets of the host application',
  allowedDomains: 'settings of the organization',
  archive: 'deleted messages, which only administrators can restore',
  botTriggers: 'follow from messages',
  bots: 'settings of bots',
  bouncedAddresses: 'belong to mail servers',
  callCounts: 'counters without content',
  channelAddresses: 'secrets',
  channelClosings: 'rules of the application',
  channelFolders: 'settings of the organization',
  confirmations: 'secrets of links that were sent',
  consumers: 'belong to the host application',
  copies: 'reads of whole organizations',
  dataKeys: 'rules of the application',
  dataSchemas: 'rules of the application',
  customEmoji: 'pictures of the organization',
  defaultChannelGroups: 'settings of the organization',
  edits: 'read with messages',
  erasures: 'of erased people',
  events: 'copies of other data for clients',
  exports: 'archives of the organization',
  externalIds: 'read with the user',
  fileTexts: 'follow from files',
  heldMessages: 'messages that holds keep',
  holds: 'orders of the operator and owners',
  importBatches: 'imports of the organization',
  importRuns: 'imports of the organization',
  importedRecords: 'imports of the organization',
  jobs: 'work that follows from other data',
  leases: 'belong to running servers',
  linkifiers: 'settings of the organization',
  messages: 'read by pages',
  missedEmails: 'follow from messages',
  moves: 'read with messages',
  notifications: 'follow from messages',
  personExports: 'copies of the same data',
  personalData: 'removes data of others',
  pictures: 'read by the name of the avatar',
  placeholderKeys: 'people of other systems who have no account',
  playgrounds: 'settings of the organization',
  provisioning: 'marks of accounts and groups of a directory',
  pushStatus: 'state of a service',
  queues: 'state of clients',
  readContexts: 'belong to tokens of this server, and expire',
  realmData: 'deletes organizations',
  recipients: 'read with messages',
  replyAddresses: 'secrets',
  searchIndex: 'follows from messages',
  sentOnce: 'ids of sent messages',
  topics: 'follow from messages',
  unfinishedUploads: 'bytes that belong to no file yet, for a day',
};

describe('PersonReader', () => {
  let fixture: MemoryFixture;
  beforeEach(async () => {
    fixture = await createFixture(
      aUser({ name: 'Hamlet' }),
      aUser({ name: 'Horatio' }),
      aUser({ name: 'Claudius' }),
      aChannel({ name: 'town', subscribers: ['Hamlet', 'Claudius'] }),
      aChannel({ name: 'plot', privacy: 'privateSharedHistory', subscribers: ['Claudius'] }),
      aMessage({ from: 'Hamlet', to: 'town', content: 'To be' }),
      aMessage({ from: 'Claudius', to: 'town', content: 'Madness' }),
      aMessage({ from: 'Hamlet', to: 'plot', topic: 'poison', content: 'I was here' }),
      aMessage({ from: 'Claudius', to: 'plot', content: 'The cup' }),
      aMessage({ from: 'Horatio', to: ['Hamlet'], content: 'My lord' }),
      aMessage({ from: 'Hamlet', to: ['Horatio'], content: 'Swear' }),
      aMessage({ from: 'Claudius', to: ['Horatio'], content: 'Watch him' }),
    );
  });
  const open = () =>
    new PersonReader(fixture.uow, new MemoryBlobStore(fixture.clock), EXPORT_PARTS, fixture.clock).open(
      fixture.viewer('Hamlet'),
    );
  async function all<T>(batches: AsyncIterable<readonly T[]>): Promise<T[]> {
    const found: T[] = [];
    for await (const batch of batches) found.push(...batch);
    return found;
  }

  it('reads own messages in channels, and hides where they are if the person cannot see the channel', async () => {
    const { channelMessages } = await open();
    expect(await all(channelMessages())).toMatchObject([
      { content: 'To be', channel: { name: 'town', topic: 'greetings' }, participants: null },
      { content: 'I was here', channel: { id: fixture.channel('plot').id, name: null, topic: null } },
    ]);
  });

  it('reads whole direct conversations of the person only', async () => {
    const { directMessages } = await open();
    expect(await all(directMessages())).toMatchObject([
      { content: 'My lord', sender: { name: 'Horatio' }, channel: null },
      { content: 'Swear', sender: { name: 'Hamlet' }, participants: [{ name: 'Hamlet' }, { name: 'Horatio' }] },
    ]);
  });

  it('reads earlier texts of own messages but not of others', async () => {
    const [own, , , , theirs] = fixture.messages;
    await fixture.uow.write(fixture.realm.id, async (tx) => {
      for (const message of [own!, theirs!]) {
        const previousContent = { content: `before ${message.content}`, rendered: '' };
        const edit = { userId: message.senderId, editedAt: fixture.clock.now(), topic: null, channel: null };
        await tx.copies.putEdits(fixture.realm.id, message.id, [{ ...edit, previousContent }]);
      }
    });
    const source = await open();
    const messages = [...(await all(source.channelMessages())), ...(await all(source.directMessages()))];
    expect(messages.map(({ earlierTexts }) => earlierTexts.map(({ content }) => content))).toEqual([
      ['before To be'],
      [],
      [],
      [],
    ]);
  });

  it('reads the reactions of the person to messages of others', async () => {
    const [, theirs] = fixture.messages;
    await fixture.uow.write(fixture.realm.id, async (tx) => {
      for (const name of ['Hamlet', 'Claudius']) {
        const reaction = { userId: fixture.user(name).id, type: 'unicode', code: '1f44d', name: '+1' } as const;
        await tx.reactions.add(fixture.realm.id, theirs!.id, reaction);
      }
    });
    const { reactions } = await open();
    expect(await all(reactions())).toMatchObject([
      { messageId: theirs!.id, name: '+1', userId: fixture.user('Hamlet').id },
    ]);
  });

  it('reads the account without secrets, also of a deactivated user', async () => {
    await fixture.uow.write(fixture.realm.id, (tx) => tx.users.update({ ...fixture.user('Hamlet'), isActive: false }));
    const { account, channelMessages } = await open();
    expect(account).toMatchObject({
      user: { fullName: 'Hamlet', isActive: false },
      logIns: { hasPassword: false, sessions: [] },
      personal: { subscriptions: [{ channelId: fixture.channel('town').id }] },
      channels: [{ name: 'town' }],
    });
    expect(await all(channelMessages())).toHaveLength(2);
  });

  it('gives a reason for each repository that it does not read', async () => {
    const read = new Set<string>();
    let known: readonly string[] = [];
    const uow = intercepting(fixture.uow, {
      read: (work, run) =>
        run((repositories) => {
          known = Object.entries(repositories).flatMap(([name, each]) => (typeof each === 'function' ? [] : [name]));
          const spied = new Proxy(repositories, {
            get: (target, name: string & keyof Repositories) => {
              read.add(name);
              return target[name];
            },
          });
          return work(spied);
        }),
    });
    const reader = new PersonReader(uow, new MemoryBlobStore(fixture.clock), EXPORT_PARTS, fixture.clock);
    const source = await reader.open(fixture.viewer('Hamlet'));
    const { channelMessages, directMessages, reactions, auditEntries, files } = source;
    for (const read of [channelMessages, directMessages, reactions, auditEntries, files]) for await (const _ of read());
    expect(Object.keys(NOT_READ).sort()).toEqual(known.filter((name) => !read.has(name)).sort());
  });
});
