import type { MessageId, RealmUrls, UserId } from '@parley/domain/kernel';
import { GetMessages, type MessageList, PLAIN_TEXTS } from '@parley/domain/messages';
import { aChannel, aMessage, aUser, createFixture, type MemoryFixture, subscribe } from '@parley/testkit';
import { MESSAGE_PARTS } from '../features.js';
import { variantByKey } from '../wire/request.js';
import { MessagePagePresenter, type PageForm } from './message-page.js';

const realmUrls: RealmUrls = { urlOf: () => 'https://chat.example', emailDomainOf: () => 'chat.example' };
const form: PageForm = {
  asHtml: true,
  withExternalIds: true,
  clientGravatar: true,
  allowEmptyTopicName: false,
  client: variantByKey('standard'),
  parts: MESSAGE_PARTS,
};

/** Reads a page of all messages and records which ones were fetched. */
async function read(
  fixture: MemoryFixture,
  pages: MessagePagePresenter,
  who: string,
  as: Partial<PageForm> = {},
  change: (list: MessageList) => MessageList = (list) => list,
) {
  const fetched: MessageId[] = [];
  const range = { anchor: { kind: 'newest' }, before: 100, after: 0, includeAnchor: true } as const;
  const { chunks } = await new GetMessages(fixture.uow, realmUrls, PLAIN_TEXTS).execute(
    fixture.caller(who),
    { narrow: [], select: range },
    (list, hydrate, listTexts) =>
      pages.present(
        change(list),
        {
          hydrate: (ids) => {
            fetched.push(...ids);
            return hydrate(ids);
          },
          listTexts,
        },
        { ...form, ...as },
      ),
  );
  return { messages: JSON.parse(`[${chunks.join('')}]`), fetched };
}

describe('message page presenter', () => {
  let fixture: MemoryFixture;
  let pages: MessagePagePresenter;
  beforeEach(async () => {
    fixture = await createFixture(
      aUser({ name: 'hamlet' }),
      aUser({ name: 'cordelia' }),
      aChannel({ name: 'general', subscribers: ['hamlet', 'cordelia'] }),
      aMessage({ from: 'hamlet', to: 'general', content: 'one' }),
      aMessage({ from: 'cordelia', to: 'general', topic: '', content: 'two' }),
      aMessage({ from: 'cordelia', to: ['hamlet'], content: 'three' }),
    );
    pages = new MessagePagePresenter(realmUrls);
  });
  const idsOf = (which: MemoryFixture) => which.messages.map((message) => message.id);

  it('fetches a page once and then serves it from the cache to all viewers with their own flags', async () => {
    const first = await read(fixture, pages, 'hamlet');
    expect(first.fetched).toEqual(idsOf(fixture));
    expect(first.messages.map((one: { content: string }) => one.content)).toEqual([
      '<p>one</p>',
      '<p>two</p>',
      '<p>three</p>',
    ]);
    expect(first.messages.map((one: { flags: string[] }) => one.flags)).toEqual([['read'], [], []]);

    const second = await read(fixture, pages, 'cordelia');
    expect(second.fetched).toEqual([]);
    expect(second.messages.map((one: { flags: string[] }) => one.flags)).toEqual([[], ['read'], ['read']]);
  });

  it('presents each message of a page like a single fetch', async () => {
    await read(fixture, pages, 'hamlet');
    const cached = await read(fixture, pages, 'hamlet');
    const fresh = await read(fixture, new MessagePagePresenter(realmUrls), 'hamlet');
    expect(cached.messages).toEqual(fresh.messages);
  });

  it('fetches another form of a message only if it differs', async () => {
    await read(fixture, pages, 'hamlet');
    expect((await read(fixture, pages, 'hamlet', { asHtml: false })).fetched).toEqual(idsOf(fixture));
    // Only one of these messages has the empty topic.
    const named = await read(fixture, pages, 'hamlet', { allowEmptyTopicName: true });
    expect(named.fetched).toEqual([idsOf(fixture)[1]]);
    expect(named.messages[1].subject).toBe('');
    expect((await read(fixture, pages, 'hamlet')).messages[1].subject).toBe('general chat');
    // All senders have gravatars and visible addresses.
    expect((await read(fixture, pages, 'hamlet', { clientGravatar: false })).fetched).toEqual(idsOf(fixture));
  });

  it('keeps other cached forms when one is added', async () => {
    await read(fixture, pages, 'hamlet');
    await read(fixture, pages, 'hamlet', { asHtml: false });
    expect((await read(fixture, pages, 'hamlet')).fetched).toEqual([]);
    expect((await read(fixture, pages, 'hamlet', { asHtml: false })).fetched).toEqual([]);
  });

  it('refetches messages after a sender is renamed', async () => {
    await read(fixture, pages, 'hamlet');
    await fixture.uow.write(fixture.realm.id, (tx) =>
      tx.users.update({ ...fixture.user('hamlet'), fullName: 'Prince Hamlet' }),
    );
    const renamed = await read(fixture, pages, 'cordelia');
    expect(renamed.messages[0].sender_full_name).toBe('Prince Hamlet');
    // Messages sent by the user and direct messages to the user.
    expect(renamed.fetched).toEqual([idsOf(fixture)[0], idsOf(fixture)[2]]);
    expect(renamed.messages[2].display_recipient.map((one: { full_name: string }) => one.full_name)).toContain(
      'Prince Hamlet',
    );
  });

  it('refetches messages after a channel is renamed', async () => {
    await read(fixture, pages, 'hamlet');
    await fixture.uow.write(fixture.realm.id, (tx) =>
      tx.channels.update({ ...fixture.channel('general'), name: 'Renamed' }),
    );
    const renamed = await read(fixture, pages, 'cordelia');
    expect(renamed.fetched).toEqual(idsOf(fixture).slice(0, 2));
    expect(renamed.messages[0].display_recipient).toBe('Renamed');
  });

  it('refetches messages after the database is replaced, because versions may repeat', async () => {
    await read(fixture, pages, 'hamlet');
    const replaced = await read(fixture, pages, 'hamlet', {}, (list) => ({ ...list, realm: { ...list.realm } }));
    expect(replaced.fetched).toEqual(idsOf(fixture));
  });

  it('shows the sender to viewers with access after hiding it from others', async () => {
    const withInaccessibleSender = (list: MessageList): MessageList => ({
      ...list,
      hiddenUserIds: new Set<UserId>([fixture.user('hamlet').id]),
    });
    const hidden = await read(fixture, pages, 'cordelia', {}, withInaccessibleSender);
    expect(hidden.messages.map((one: { sender_full_name: string }) => one.sender_full_name)).toEqual([
      'Unknown user',
      'cordelia',
      'cordelia',
    ]);
    const known = await read(fixture, pages, 'cordelia');
    expect(known.messages[0].sender_full_name).toBe('hamlet');
    expect(known.fetched).toEqual([idsOf(fixture)[0]]);
  });

  it('includes the email hash only for viewers who may see it, even from the cache (contract decision 21)', async () => {
    const { id, settings, ...hamlet } = fixture.user('hamlet');
    await fixture.add(aUser({ name: 'iago', role: 'administrator' }), aUser({ name: 'polonius', role: 'guest' }));
    const shy = { ...settings, emailAddressVisibility: 'administrators' as const };
    await fixture.uow.write(fixture.realm.id, async (tx) => {
      await tx.users.update({ ...hamlet, id, settings: shy });
      for (const who of ['iago', 'polonius']) await subscribe(tx, fixture.channel('general'), [fixture.user(who).id]);
    });
    await fixture.add(aMessage({ from: 'hamlet', to: 'general', content: 'four' }));
    const avatarFor = async (who: string, as: Partial<PageForm> = {}) =>
      (await read(fixture, pages, who, as)).messages.at(-1).avatar_url;
    const drawn = `https://chat.example/user_avatars/${fixture.realm.id}/${id}.png?version=1`;
    for (let round = 0; round < 2; round++) {
      for (const clientGravatar of [true, false]) {
        expect(await avatarFor('cordelia', { clientGravatar })).toBe(drawn);
        expect(await avatarFor('polonius', { clientGravatar })).toBe(drawn);
        expect(await avatarFor('iago', { clientGravatar })).toContain('secure.gravatar.com');
        expect(await avatarFor('hamlet', { clientGravatar })).toContain('secure.gravatar.com');
      }
    }
    // Only two forms exist across all clients.
    expect((await read(fixture, pages, 'iago', { clientGravatar: false })).fetched).toEqual([]);
  });

  it('refetches a page after eviction', async () => {
    const cramped = new MessagePagePresenter(realmUrls, 10);
    await read(fixture, cramped, 'hamlet');
    await read(fixture, cramped, 'hamlet');
    const again = await read(fixture, cramped, 'hamlet');
    expect(again.fetched.length).toBeGreaterThan(0);
    expect(again.messages).toEqual((await read(fixture, pages, 'hamlet')).messages);
  });

  it('ends a page part at the length limit but always includes a message', async () => {
    const long = (content: string) => aMessage({ from: 'hamlet', to: 'general', content });
    await fixture.add(long('x'.repeat(2_500_000)), long('y'.repeat(10)));
    const entries = (list: MessageList) => list.entries.slice(-2);
    const part = await new GetMessages(fixture.uow, realmUrls, PLAIN_TEXTS).execute(
      fixture.caller('hamlet'),
      { narrow: [], select: { anchor: { kind: 'newest' }, before: 10, after: 0, includeAnchor: true } },
      (list, hydrate, listTexts) => pages.present({ ...list, entries: entries(list) }, { hydrate, listTexts }, form),
    );
    expect(part.count).toBe(1);
    expect(part.nextStep).toBe(1);
    expect(JSON.parse(part.chunks.join('')).content).toHaveLength(2_500_007);
    // Long texts are not copied, because other responses may share them.
    expect(part.chunks.some((chunk) => chunk.length > 2_500_000)).toBe(true);
  });

  it('fetches a page only once for repeated searches', async () => {
    const fetched: MessageId[][] = [];
    const search = async () => {
      const { chunks } = await new GetMessages(fixture.uow, realmUrls, PLAIN_TEXTS).execute(
        fixture.caller('hamlet'),
        {
          narrow: [{ operator: 'search', operand: 'three', negated: false }],
          select: { anchor: { kind: 'newest' }, before: 10, after: 0, includeAnchor: true },
        },
        (list, hydrate, listTexts) => {
          const sources = {
            hydrate: (ids: readonly MessageId[]) => {
              fetched.push([...ids]);
              return hydrate(ids);
            },
            listTexts,
          };
          return pages.present(list, sources, form);
        },
      );
      return JSON.parse(`[${chunks.join('')}]`)[0].match_content;
    };
    const marked = '<p><span class="highlight">three</span></p>';
    expect(await search()).toBe(marked);
    expect(await search()).toBe(marked);
    expect(fetched).toEqual([[idsOf(fixture)[2]]]);
  });

  it('limits the number of messages fetched until their length is known', async () => {
    await fixture.add(...Array.from({ length: 200 }, () => aMessage({ from: 'hamlet', to: 'general' })));
    const steps: number[] = [];
    await new GetMessages(fixture.uow, realmUrls, PLAIN_TEXTS).execute(
      fixture.caller('hamlet'),
      { narrow: [], select: { anchor: { kind: 'newest' }, before: 150, after: 0, includeAnchor: true } },
      (list, hydrate, listTexts) =>
        pages.present(
          list,
          {
            hydrate: (ids) => {
              steps.push(ids.length);
              return hydrate(ids);
            },
            listTexts,
          },
          form,
        ),
    );
    expect(steps).toEqual([20, 80, 50]);
  });

  it('presents an empty page', async () => {
    const nobody = await createFixture(aUser({ name: 'hamlet' }));
    expect(await read(nobody, pages, 'hamlet')).toEqual({ messages: [], fetched: [] });
  });
});
