import { GetMessages, type MessageId, type MessageList, type RealmAddresses, type UserId } from '@parley/domain';
import { aChannel, aMessage, aUser, given, type MemoryScene, subscribe } from '@parley/testkit';
import { MessagePagePresenter, type PageForm } from './message-page.js';

const addresses: RealmAddresses = { urlOf: () => 'https://chat.example', mailHostOf: () => 'chat.example' };
const form: PageForm = { asHtml: true, clientGravatar: true, allowEmptyTopicName: false };

/** A page of everything, and which messages had to be fetched for it. */
async function read(
  scene: MemoryScene,
  pages: MessagePagePresenter,
  who: string,
  as: Partial<PageForm> = {},
  change: (list: MessageList) => MessageList = (list) => list,
) {
  const fetched: MessageId[] = [];
  const range = { anchor: { kind: 'newest' }, before: 100, after: 0, includeAnchor: true } as const;
  const { chunks } = await new GetMessages(scene.uow, addresses).execute(
    scene.caller(who),
    { narrow: [], select: range },
    (list, hydrate) =>
      pages.present(
        change(list),
        (ids) => {
          fetched.push(...ids);
          return hydrate(ids);
        },
        { ...form, ...as },
      ),
  );
  return { messages: JSON.parse(`[${chunks.join('')}]`), fetched };
}

describe('a page of messages', () => {
  let scene: MemoryScene;
  let pages: MessagePagePresenter;
  beforeEach(async () => {
    scene = await given(
      aUser({ name: 'hamlet' }),
      aUser({ name: 'cordelia' }),
      aChannel({ name: 'general', subscribers: ['hamlet', 'cordelia'] }),
      aMessage({ from: 'hamlet', to: 'general', content: 'one' }),
      aMessage({ from: 'cordelia', to: 'general', topic: '', content: 'two' }),
      aMessage({ from: 'cordelia', to: ['hamlet'], content: 'three' }),
    );
    pages = new MessagePagePresenter(addresses);
  });
  const idsOf = (which: MemoryScene) => which.messages.map((message) => message.id);

  it('is fetched once, and by then known for everybody with his own flags', async () => {
    const first = await read(scene, pages, 'hamlet');
    expect(first.fetched).toEqual(idsOf(scene));
    expect(first.messages.map((one: { content: string }) => one.content)).toEqual([
      '<p>one</p>',
      '<p>two</p>',
      '<p>three</p>',
    ]);
    expect(first.messages.map((one: { flags: string[] }) => one.flags)).toEqual([['read'], [], []]);

    const second = await read(scene, pages, 'cordelia');
    expect(second.fetched).toEqual([]);
    expect(second.messages.map((one: { flags: string[] }) => one.flags)).toEqual([[], ['read'], ['read']]);
  });

  it('holds of each message the same as when it is fetched alone', async () => {
    await read(scene, pages, 'hamlet');
    const cached = await read(scene, pages, 'hamlet');
    const fresh = await read(scene, new MessagePagePresenter(addresses), 'hamlet');
    expect(cached.messages).toEqual(fresh.messages);
  });

  it('is known in another form only where that makes no difference', async () => {
    await read(scene, pages, 'hamlet');
    expect((await read(scene, pages, 'hamlet', { asHtml: false })).fetched).toEqual(idsOf(scene));
    // Of these only one has the empty topic.
    const named = await read(scene, pages, 'hamlet', { allowEmptyTopicName: true });
    expect(named.fetched).toEqual([idsOf(scene)[1]]);
    expect(named.messages[1].subject).toBe('');
    expect((await read(scene, pages, 'hamlet')).messages[1].subject).toBe('general chat');
    // All senders have gravatars and show their addresses.
    expect((await read(scene, pages, 'hamlet', { clientGravatar: false })).fetched).toEqual(idsOf(scene));
  });

  it('keeps other forms when one is added', async () => {
    await read(scene, pages, 'hamlet');
    await read(scene, pages, 'hamlet', { asHtml: false });
    expect((await read(scene, pages, 'hamlet')).fetched).toEqual([]);
    expect((await read(scene, pages, 'hamlet', { asHtml: false })).fetched).toEqual([]);
  });

  it('is made anew where the sender got another name', async () => {
    await read(scene, pages, 'hamlet');
    await scene.uow.write((tx) => tx.users.update({ ...scene.user('hamlet'), fullName: 'Prince Hamlet' }));
    const renamed = await read(scene, pages, 'cordelia');
    expect(renamed.messages[0].sender_full_name).toBe('Prince Hamlet');
    // His own message, and the conversation he is part of.
    expect(renamed.fetched).toEqual([idsOf(scene)[0], idsOf(scene)[2]]);
    expect(renamed.messages[2].display_recipient.map((one: { full_name: string }) => one.full_name)).toContain(
      'Prince Hamlet',
    );
  });

  it('is made anew where the channel got another name', async () => {
    await read(scene, pages, 'hamlet');
    await scene.uow.write((tx) => tx.channels.update({ ...scene.channel('general'), name: 'Renamed' }));
    const renamed = await read(scene, pages, 'cordelia');
    expect(renamed.fetched).toEqual(idsOf(scene).slice(0, 2));
    expect(renamed.messages[0].display_recipient).toBe('Renamed');
  });

  it('keeps what hides a sender away from those who know him', async () => {
    const stranger = (list: MessageList): MessageList => ({
      ...list,
      strangers: new Set<UserId>([scene.user('hamlet').id]),
    });
    const hidden = await read(scene, pages, 'cordelia', {}, stranger);
    expect(hidden.messages.map((one: { sender_full_name: string }) => one.sender_full_name)).toEqual([
      'Unknown user',
      'cordelia',
      'cordelia',
    ]);
    const known = await read(scene, pages, 'cordelia');
    expect(known.messages[0].sender_full_name).toBe('hamlet');
    expect(known.fetched).toEqual([idsOf(scene)[0]]);
  });

  it('gives the hash of an address only to those who may see it, whoever looked before (contract decision 21)', async () => {
    const { id, settings, ...hamlet } = scene.user('hamlet');
    await scene.add(aUser({ name: 'iago', role: 'administrator' }), aUser({ name: 'polonius', role: 'guest' }));
    const shy = { ...settings, emailAddressVisibility: 'administrators' as const };
    await scene.uow.write(async (tx) => {
      await tx.users.update({ ...hamlet, id, settings: shy });
      for (const who of ['iago', 'polonius']) await subscribe(tx, scene.channel('general'), [scene.user(who).id]);
    });
    await scene.add(aMessage({ from: 'hamlet', to: 'general', content: 'four' }));
    const avatarFor = async (who: string, as: Partial<PageForm> = {}) =>
      (await read(scene, pages, who, as)).messages.at(-1).avatar_url;
    const drawn = `https://chat.example/user_avatars/${scene.realm.id}/${id}.png?version=1`;
    for (let round = 0; round < 2; round++) {
      for (const clientGravatar of [true, false]) {
        expect(await avatarFor('cordelia', { clientGravatar })).toBe(drawn);
        expect(await avatarFor('polonius', { clientGravatar })).toBe(drawn);
        expect(await avatarFor('iago', { clientGravatar })).toContain('secure.gravatar.com');
        expect(await avatarFor('hamlet', { clientGravatar })).toContain('secure.gravatar.com');
      }
    }
    // Two forms are all there are, for whatever client.
    expect((await read(scene, pages, 'iago', { clientGravatar: false })).fetched).toEqual([]);
  });

  it('is fetched again once there was no room for it', async () => {
    const cramped = new MessagePagePresenter(addresses, 10);
    await read(scene, cramped, 'hamlet');
    await read(scene, cramped, 'hamlet');
    const again = await read(scene, cramped, 'hamlet');
    expect(again.fetched.length).toBeGreaterThan(0);
    expect(again.messages).toEqual((await read(scene, pages, 'hamlet')).messages);
  });

  it('ends where it gets long, after its first message at the earliest', async () => {
    const long = (content: string) => aMessage({ from: 'hamlet', to: 'general', content });
    await scene.add(long('x'.repeat(2_500_000)), long('y'.repeat(10)));
    const heads = (list: MessageList) => list.heads.slice(-2);
    const part = await new GetMessages(scene.uow, addresses).execute(
      scene.caller('hamlet'),
      { narrow: [], select: { anchor: { kind: 'newest' }, before: 10, after: 0, includeAnchor: true } },
      (list, hydrate) => pages.present({ ...list, heads: heads(list) }, hydrate, form),
    );
    expect(part.count).toBe(1);
    expect(part.nextStep).toBe(1);
    expect(JSON.parse(part.chunks.join('')).content).toHaveLength(2_500_007);
    // Such a text is not copied into anything: other answers may hold it as well.
    expect(part.chunks.some((chunk) => chunk.length > 2_500_000)).toBe(true);
  });

  it('fetches only so many messages before it knows how long they are', async () => {
    await scene.add(...Array.from({ length: 200 }, () => aMessage({ from: 'hamlet', to: 'general' })));
    const steps: number[] = [];
    await new GetMessages(scene.uow, addresses).execute(
      scene.caller('hamlet'),
      { narrow: [], select: { anchor: { kind: 'newest' }, before: 150, after: 0, includeAnchor: true } },
      (list, hydrate) =>
        pages.present(
          list,
          (ids) => {
            steps.push(ids.length);
            return hydrate(ids);
          },
          form,
        ),
    );
    expect(steps).toEqual([20, 80, 50]);
  });

  it('may be empty', async () => {
    const nobody = await given(aUser({ name: 'hamlet' }));
    expect(await read(nobody, pages, 'hamlet')).toEqual({ messages: [], fetched: [] });
  });
});
