import { ListSubscriptions } from '@parley/domain/channels';
import type { Ports } from '@parley/domain/composition';
import type { RealmId } from '@parley/domain/kernel';
import { VerifyApiKey } from '@parley/domain/users';
import {
  compose,
  createDemo,
  DEMO_CHANNELS,
  DEMO_PEOPLE,
  listDemoAccess,
  PERIOD_SECONDS,
  passwordOf,
} from '@parley/server/testing';
import { FixedClock } from '@parley/testkit';
import { MemoryStorage } from '@parley/testkit/memory';
import { TestServer } from '../testing/test-server.js';

async function emptyPorts() {
  const clock = new FixedClock();
  const storage = new MemoryStorage(clock);
  const server = await TestServer.start();
  await server.close();
  const ports: Ports = { ...server.parley.ports, unitOfWork: storage.uow, clock };
  return { ports, storage, clock };
}

describe('createDemo', () => {
  let demo: Awaited<ReturnType<typeof emptyPorts>>;
  let realmId: RealmId;
  beforeAll(async () => {
    demo = await emptyPorts();
    expect(await createDemo(demo.ports)).toBe(true);
    realmId = (await demo.ports.unitOfWork.readAcross(({ realms }) => realms.findByStringId('zulip')))!.id;
  });

  const sent = ({ announced }: MemoryStorage) =>
    announced.flatMap(({ event }) => (event.type === 'message.sent' ? [event.view] : []));

  it('creates everything in one transaction', () => {
    expect(demo.storage.commits).toBe(1);
  });

  it('does nothing on the second call', async () => {
    expect(await createDemo(demo.ports)).toBe(false);
    expect(demo.storage.commits).toBe(1);
  });

  it('creates an organization with the demo settings', async () => {
    const realm = await demo.ports.unitOfWork.read(realmId, ({ realms }) => realms.get(realmId));
    expect(realm).toMatchObject({ name: 'Zulip Dev', settings: { organizationType: 'business', digestWeekday: 1 } });
  });

  it.each(DEMO_PEOPLE)(
    'has $fullName, $role',
    async ({ email, fullName, role, timezone = '', specialPermissions = [] }) => {
      const { user, hash, record } = await demo.ports.unitOfWork.read(realmId, async ({ users, apiKeys }) => {
        const found = (await users.findByEmail(realmId, email))!;
        const passwordHash = await users.findPasswordHash(realmId, found.id);
        return { user: found, hash: passwordHash, record: await apiKeys.find(realmId, found.id) };
      });
      expect(user).toMatchObject({
        email,
        fullName,
        role,
        specialPermissions,
        settings: { emailAddressVisibility: 'administrators', timezone },
      });
      expect(await demo.ports.passwordHasher.verify(passwordOf({ email }), hash)).toBe(true);
      const apiKey = demo.ports.apiKeyMint.derive(record!);
      const verified = await compose(demo.ports)(VerifyApiKey).execute({ realmId }, { email, apiKey });
      expect(verified.userId).toBe(user.id);
    },
  );

  it('has profile fields of every kind and recent presences', async () => {
    const { fields, values, presences, hamlet, iago } = await demo.ports.unitOfWork.read(
      realmId,
      async ({ profileFields, profiles, presence, users }) => {
        const [hamlet, iago] = [
          (await users.findByEmail(realmId, 'hamlet@zulip.com'))!,
          (await users.findByEmail(realmId, 'iago@zulip.com'))!,
        ];
        const fields = await profileFields.list(realmId);
        const values = (await profiles.listValues(realmId, [hamlet.id])).get(hamlet.id)!;
        return { fields, values, presences: await presence.list(realmId), hamlet, iago };
      },
    );
    expect(new Set(fields.map(({ kind }) => kind)).size).toBe(8);
    const mentor = fields.find(({ name }) => name === 'Mentor')!;
    expect(values.find(({ fieldId }) => fieldId === mentor.id)!.value).toBe(JSON.stringify([iago.id]));
    const now = demo.clock.now();
    expect(presences.find(({ userId }) => userId === hamlet.id)).toMatchObject({ lastActive: now - 10 });
    expect(presences).toHaveLength(6);
  });

  it('grants the owner what otherwise only operators can grant', async () => {
    const owner = DEMO_PEOPLE.find(({ role }) => role === 'owner');
    expect(owner?.specialPermissions).toEqual(['canCreateUsers', 'canChangeUserEmails']);
  });

  it('creates the channels with their subscribers', async () => {
    await demo.ports.unitOfWork.read(realmId, async ({ channels, users }) => {
      for (const expected of DEMO_CHANNELS) {
        const channel = (await channels.findByName(realmId, expected.name))!;
        const people = await users.listByEmail(realmId, expected.subscribers);
        const subscribers = (await channels.listSubscribers(realmId, [channel.id])).get(channel.id)!;
        expect(new Set(subscribers)).toEqual(new Set(people.map(({ id }) => id)));
        expect(channel).toMatchObject({
          privacy: expected.isPrivate ? 'privateSharedHistory' : 'public',
          isDefault: expected.isDefault ?? false,
        });
      }
    });
  });

  it('creates a custom emoji with its image', async () => {
    const { emoji, picture } = await demo.ports.unitOfWork.read(realmId, async ({ customEmoji, pictures }) => {
      const [found] = await customEmoji.list(realmId);
      return { emoji: found!, picture: await pictures.find(realmId, `emoji/${found!.id}`) };
    });
    expect(emoji).toMatchObject({ name: 'green_tick', format: 'png', isAnimated: false });
    expect(await demo.ports.blobStore.sizeOf(picture!.blob)).toBe(picture!.size);
  });

  it('creates a few hundred messages over the last days, oldest first', () => {
    const times = sent(demo.storage).map(({ message }) => message.sentAt);
    expect(times.length).toBeGreaterThan(300);
    expect(times).toEqual([...times].sort((a, b) => a - b));
    expect(times[0]).toBeGreaterThanOrEqual(demo.clock.now() - PERIOD_SECONDS - 1);
    expect(times.at(-1)).toBeLessThanOrEqual(demo.clock.now());
  });

  it('creates several topics per channel and direct conversations of every size', () => {
    const topics = new Map<string, Set<string>>();
    const sizes = new Set<number>();
    for (const { conversation, message } of sent(demo.storage)) {
      if (conversation.kind === 'direct') sizes.add(conversation.participants.length);
      else topics.set(conversation.name, (topics.get(conversation.name) ?? new Set()).add(message.topic));
    }
    expect([...topics.keys()].sort()).toEqual(DEMO_CHANNELS.map(({ name }) => name).sort());
    for (const names of topics.values()) expect(names.size).toBeGreaterThanOrEqual(2);
    expect([...sizes].sort()).toEqual([1, 2, 3, 4]);
  });

  it('leaves no message unread', async () => {
    await demo.ports.unitOfWork.read(realmId, async ({ personal, users }) => {
      for (const { email } of DEMO_PEOPLE) {
        const { id: userId } = (await users.findByEmail(realmId, email))!;
        expect(await personal.listUnread({ realmId, userId }, 10)).toEqual([]);
      }
    });
  });

  it('creates the same content every time', async () => {
    const again = await emptyPorts();
    await createDemo(again.ports);
    expect(sent(again.storage)).toEqual(sent(demo.storage));
  });

  it('subscribes new users to the default channels', async () => {
    const access = await listDemoAccess(demo.ports);
    expect(access.map(({ name }) => name).sort()).toEqual(
      'aaron cordelia desdemona hamlet iago othello polonius prospero shiva zoe'.split(' '),
    );
    const polonius = (await demo.ports.unitOfWork.read(realmId, ({ users }) =>
      users.findByEmail(realmId, 'polonius@zulip.com'),
    ))!;
    const subscriptions = await compose(demo.ports)(ListSubscriptions).execute(
      { realmId, userId: polonius.id, clientName: 'test' },
      { includeSubscribers: false },
    );
    expect(subscriptions.map(({ channel }) => channel.name)).toEqual(['Verona', 'announce', 'general', 'sandbox']);
  });
});
