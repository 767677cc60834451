import {
  aRealmWith,
  aUserOfEachRole,
  countingReads,
  createFixture,
  FakeRenderer,
  fakeRealmUrls,
} from '@parley/testkit';
import { DomainError } from '../kernel/errors.js';
import type { RealmId, UserId } from '../kernel/ids.js';
import type { MarkdownOptions, MarkdownRenderer, ParsedMarkdown } from '../markdown/markdown.js';
import type { Realm } from '../realms/realm.js';
import { type TextAhead, UserTextParser } from './render-message.js';

/** Creates a parser that records renderer calls and counts option lookups. */
async function aParser() {
  const fixture = await createFixture(aUserOfEachRole());
  const plain = new FakeRenderer();
  const asked: { readonly how: 'before' | 'within'; readonly options: MarkdownOptions; readonly ahead?: unknown }[] =
    [];
  const renderer: MarkdownRenderer = {
    parse: async (content, options) => {
      asked.push({ how: 'before', options });
      if (content === 'refused') throw new DomainError('UNRENDERABLE_CONTENT', 'Unable to render message');
      return plain.parse(content, options);
    },
    parseNow: (content, options, ahead) => {
      asked.push({ how: 'within', options, ahead });
      return plain.parseNow(content, options);
    },
    render: (parsed, names) => plain.render(parsed, names),
    topicLinks: () => [],
  };
  const { uow, count } = countingReads(fixture.uow);
  let path = '';
  const urlOf: typeof fakeRealmUrls.urlOf = (realm) => fakeRealmUrls.urlOf(realm) + path;
  const parser = new UserTextParser(uow, renderer, { ...fakeRealmUrls, urlOf });
  return {
    fixture,
    plain,
    asked,
    lookUps: count,
    moveTo: (newPath: string) => {
      path = newPath;
    },
    parse: (content: string, as: 'member' | 'guest' = 'member') => parser.parse(fixture.caller(as), content),
    within: (text: TextAhead, known?: Realm): Promise<ParsedMarkdown> =>
      fixture.uow.write(fixture.realm.id, async (tx) => {
        const user = (await tx.users.find(fixture.realm.id, fixture.user('member').id))!;
        return parser.parsedBy(known ?? (await tx.realms.get(fixture.realm.id)), user, text);
      }),
    translateEmoticons: () =>
      fixture.add(async (_, tx) => {
        const user = (await tx.users.find(fixture.realm.id, fixture.user('member').id))!;
        await tx.users.update({ ...user, settings: { ...user.settings, translateEmoticons: true } });
      }),
  };
}

it("UserTextParser looks up a user's parse options once", async () => {
  const { parse, within, asked, lookUps } = await aParser();
  for (const content of ['one', 'two']) {
    const text = await parse(content);
    expect(await within(text)).toBe(text.parsed);
  }
  expect(lookUps()).toBe(1);
  expect(asked.map(({ how }) => how)).toEqual(['before', 'before']);
});

it('UserTextParser re-parses inside the unit of work if user or realm settings changed after parsing', async () => {
  const { parse, within, asked, lookUps, translateEmoticons, fixture } = await aParser();
  const changes = [
    { change: translateEmoticons, options: { translateEmoticons: true, defaultCodeLanguage: '' } },
    {
      change: () => fixture.add(aRealmWith({ settings: { defaultCodeBlockLanguage: 'elm' } })),
      options: { translateEmoticons: true, defaultCodeLanguage: 'elm' },
    },
  ];
  for (const { change, options } of changes) {
    const text = await parse(':)');
    await change();
    await within(text);
    expect(asked.at(-1)).toMatchObject({ how: 'within', options, ahead: text.parsed });
    const next = await parse(':)');
    expect(asked.at(-1)).toMatchObject({ how: 'before', options });
    expect(await within(next)).toBe(next.parsed);
  }
  expect(lookUps()).toBe(3);
});

it('UserTextParser refreshes the options of all users when the realm changes', async () => {
  const { parse, within, lookUps, fixture } = await aParser();
  const text = await parse('one');
  await fixture.add(aRealmWith({ settings: { defaultCodeBlockLanguage: 'elm' } }));
  await within(text);
  await parse('two', 'guest');
  await parse('three', 'member');
  await parse('four', 'guest');
  expect(lookUps()).toBe(3);
});

it('UserTextParser re-parses inside the unit of work if the realm URL changed after parsing', async () => {
  const { parse, within, asked, moveTo } = await aParser();
  const text = await parse('one');
  moveTo('/chat');
  // Storage returns the identical object if nothing changed.
  await within(text, text.by.realm);
  expect(asked.at(-1)).toMatchObject({ how: 'within', options: { realmUrl: expect.stringMatching(/\/chat$/) } });
});

it('UserTextParser evicts cached options of users and realms when the cache is full', async () => {
  const { fixture, plain } = await aParser();
  let lookUps = 0;
  const reads = {
    realms: { get: async (id: RealmId) => ({ ...fixture.realm, id }) },
    users: { find: async () => null },
  };
  const read = async <T>(_: RealmId, work: (repositories: never) => Promise<T>): Promise<T> => {
    lookUps++;
    return work(reads as never);
  };
  const parser = new UserTextParser({ ...fixture.uow, read }, plain, fakeRealmUrls);
  const parse = (realmId: number, userId: number) =>
    parser.parse({ realmId: realmId as RealmId, userId: userId as UserId, clientName: 'test' }, 'one');
  const lookUpsOf = async (...callers: readonly [realmId: number, userId: number][]) => {
    const before = lookUps;
    for (const caller of callers) await parse(...caller);
    return lookUps - before;
  };

  for (let userId = 1; userId <= 10_000; userId++) await parse(1, userId);
  expect(await lookUpsOf([1, 1], [1, 10_000])).toBe(0);
  await parse(1, 10_001);
  expect(await lookUpsOf([1, 10_001])).toBe(0);
  expect(await lookUpsOf([1, 1])).toBe(1);

  for (let realmId = 2; realmId <= 1000; realmId++) await parse(realmId, 1);
  expect(await lookUpsOf([1, 1], [1000, 1])).toBe(0);
  await parse(1001, 1);
  expect(await lookUpsOf([1001, 1])).toBe(0);
  expect(await lookUpsOf([1, 1])).toBe(1);
});

it('UserTextParser rejects unrenderable text inside the unit of work according to current settings', async () => {
  const { parse, within, translateEmoticons } = await aParser();
  const text = await parse('refused');
  await expect(within(text)).rejects.toMatchObject({ code: 'UNRENDERABLE_CONTENT' });
  await translateEmoticons();
  await expect(within(text)).resolves.toBeDefined();
});
