import type { MessageId, RealmId, Transaction } from '@parley/domain/kernel';
import type { SearchedWord } from '@parley/domain/markdown';
import { type MessageCondition, type MessageFilter, not, type Viewer } from '@parley/domain/messages';
import { aChannel, aMessage, anotherRealm, aUser } from '../builders.js';
import { people, pick } from './chatter.js';
import { idsOf, type OpenStorage, own, type Stage, shared, stagesOn } from './storage-under-test.js';

const search = (terms: string | readonly string[], ...phrases: readonly string[]): MessageCondition => ({
  kind: 'search',
  words: (typeof terms === 'string' ? terms.split(' ') : terms).map((term) => [[term]]),
  phrases,
});

const said = [
  ...people,
  aChannel({ name: 'general', subscribers: ['a', 'b'] }),
  aChannel({ name: 'random', subscribers: ['a'] }),
  aMessage({ from: 'a', to: 'general', topic: 'Lunch plans', content: 'Pizza today' }), // 0
  aMessage({ from: 'b', to: 'general', topic: 'lunch plans', content: 'No pizza, thanks' }), // 1
  aMessage({ from: 'a', to: 'random', topic: 'Pizza', content: 'Best in town: the red oven' }), // 2
  aMessage({ from: 'b', to: ['a'], content: 'lunch?' }), // 3
  aMessage({ from: 'c', to: 'random', topic: 'tools', content: 'an "AND" b*, NEAR(x) {y} ärger 日本' }), // 4
];

/** Reads all pages of the filter in both directions, which must agree. */
async function find(stage: Stage, filter: MessageFilter, name = 'a'): Promise<readonly MessageId[]> {
  return stage.uow.read(stage.realm.id, async ({ pages }) => {
    const found = idsOf(await pages.listEntriesUpTo(stage.viewer(name), filter, null, 100));
    expect(idsOf(await pages.listEntriesFrom(stage.viewer(name), filter, 0, 100))).toEqual(found);
    const among = await pages.listEntries(stage.viewer(name), idsOf(stage.messages), filter.conditions);
    expect(idsOf(among)).toEqual(expect.arrayContaining([...found]));
    return found;
  });
}

export function searchIndexContract(open: OpenStorage): void {
  describe('search index', () => {
    const stage = stagesOn(open);

    it('finds every word in content or topic, ignoring case', async () => {
      const fixture = await stage(...said);
      expect(await find(fixture, own(search('pizza')))).toEqual(pick(fixture, 0, 1, 2));
      expect(await find(fixture, own(search('pizza lunch')))).toEqual(pick(fixture, 0, 1));
      expect(await find(fixture, own(search('pizza oven')))).toEqual(pick(fixture, 2));
      expect(await find(fixture, own(search('lunch')))).toEqual(pick(fixture, 0, 1, 3));
      expect(await find(fixture, own(search('pizza'), search('thanks')))).toEqual(pick(fixture, 1));
      expect(await find(fixture, own(search('piz')))).toEqual([]);
      expect(await find(fixture, own(search('p')))).toEqual([]);
      expect(await find(fixture, own(search('ärger 日本')))).toEqual(pick(fixture, 4));
    });

    it('finds a word by any of its alternative terms', async () => {
      const fixture = await stage(...said);
      const alternatives = (...words: readonly SearchedWord[]): MessageCondition => ({
        kind: 'search',
        words,
        phrases: [],
      });
      expect(await find(fixture, own(alternatives([['oven', 'thanks']])))).toEqual(pick(fixture, 1, 2));
      expect(await find(fixture, own(alternatives([['oven', 'thanks'], ['no']])))).toEqual(pick(fixture, 1));
      expect(await find(fixture, own(alternatives([['oven', 'today']], [['x', 'town']])))).toEqual(pick(fixture, 2));
      expect(await find(fixture, own(not(alternatives([['pizza', 'lunch']]))))).toEqual(pick(fixture, 4));
      const either: MessageCondition = {
        kind: 'anyOf',
        conditions: [alternatives([['red', 'x']]), alternatives([['an', 'y']])],
      };
      expect(await find(fixture, own(either))).toEqual(pick(fixture, 2, 4));
    });

    it('finds a word by the beginning of a term', async () => {
      const fixture = await stage(...said);
      const begun = (beginning: string, ...others: readonly string[]): MessageCondition => ({
        kind: 'search',
        words: [[[{ beginning }]], ...others.map((term) => [[term]])],
        phrases: [],
      });
      expect(await find(fixture, own(begun('piz')))).toEqual(pick(fixture, 0, 1, 2));
      expect(await find(fixture, own(begun('pizza')))).toEqual(pick(fixture, 0, 1, 2));
      expect(await find(fixture, own(begun('t')))).toEqual(pick(fixture, 0, 1, 2, 4));
      expect(await find(fixture, own(begun('piz', 'lunch')))).toEqual(pick(fixture, 0, 1));
      expect(await find(fixture, own(begun('piz'), search('lun')))).toEqual([]);
      expect(await find(fixture, own(begun('izza')))).toEqual([]);
      expect(await find(fixture, own(begun('är')))).toEqual(pick(fixture, 4));
      const either = (...terms: SearchedWord[number]): MessageCondition => ({
        kind: 'search',
        words: [[terms]],
        phrases: [],
      });
      expect(await find(fixture, own(either('oven', { beginning: 'zzz' })))).toEqual(pick(fixture, 2));
      expect(await find(fixture, own(either('oven', { beginning: '<than' }, { beginning: 'than' })))).toEqual(
        pick(fixture, 1, 2),
      );
      expect(await find(fixture, own(not(begun('piz'))))).toEqual(pick(fixture, 3, 4));
      const inGeneral: MessageCondition = {
        kind: 'recipient',
        recipientIds: [fixture.channel('general').recipientId],
      };
      expect(await find(fixture, own(begun('piz'), inGeneral))).toEqual(pick(fixture, 0, 1));
      for (const beginning of ['piz*', '"', "piz'", 'p z', '\\', ':*']) {
        expect(await find(fixture, own(begun(beginning)))).toEqual([]);
      }
    });

    it('finds nothing after the last message', async () => {
      const fixture = await stage(...said);
      const { uow, viewer } = fixture;
      await uow.read(fixture.realm.id, async ({ pages }) => {
        for (const anchor of [1e6, 3e9, 1e15]) {
          expect(await pages.listEntriesFrom(viewer('a'), own(search('pizza')), anchor, 10)).toEqual([]);
          const all = await pages.listEntriesUpTo(viewer('a'), own(search('pizza')), anchor, 10);
          expect(idsOf(all)).toEqual(pick(fixture, 0, 1, 2));
        }
      });
    });

    it('finds a received message among more than a hundred matches that the user never received', async () => {
      const hits = (count: number) =>
        Array.from({ length: count }, () => aMessage({ from: 'b', to: 'general', content: 'needle' }));
      const fixture = await stage(...people, aChannel({ name: 'general', subscribers: ['b'] }), ...hits(120));
      const { uow, realm, user, channel } = fixture;
      const { recipientId } = channel('general');
      const a = [user('a').id];
      await uow.write(realm.id, (tx) => tx.personal.openSpans(realm.id, [recipientId], a));
      await fixture.add(...hits(1));
      await uow.write(realm.id, (tx) => tx.personal.closeSpans(realm.id, [recipientId], a));
      await fixture.add(...hits(120));
      expect(await find(fixture, own(search('needle')))).toEqual(pick(fixture, 120));
    });

    it('finds phrases in the Markdown or in the topic', async () => {
      const fixture = await stage(...said);
      expect(await find(fixture, own(search('pizza', 'pizza today')))).toEqual(pick(fixture, 0));
      expect(await find(fixture, own(search('pizza', 'izza')))).toEqual(pick(fixture, 0, 1, 2));
      expect(await find(fixture, own(search('lunch', 'h plans')))).toEqual(pick(fixture, 0, 1));
      expect(await find(fixture, own(search('pizza', '%', '_')))).toEqual([]);
    });

    it('treats input as words instead of query syntax', async () => {
      const fixture = await stage(...said);
      for (const words of ['and', 'near x y', 'b']) {
        expect(await find(fixture, own(search(words)))).toEqual(pick(fixture, 4));
      }
      const hostile = ['b*', '"', 'a"b', 'NEAR(', '^pizza', 'terms:pizza', '-pizza', 'a OR b', '\0', '{x}', "'", ')'];
      for (const word of hostile) expect(await find(fixture, own(search([word])))).toEqual([]);
    });

    it('combines with every other condition', async () => {
      const fixture = await stage(...said);
      const inChannel = (name: string): MessageCondition => ({
        kind: 'recipient',
        recipientIds: [fixture.channel(name).recipientId],
      });
      const byB: MessageCondition = { kind: 'sender', userId: fixture.user('b').id };
      const topic: MessageCondition = { kind: 'topic', topicKey: 'lunch plans' };
      const unread: MessageCondition = not({ kind: 'flag', flag: 'read' });
      expect(await find(fixture, own(search('pizza'), inChannel('general')))).toEqual(pick(fixture, 0, 1));
      expect(await find(fixture, own(search('pizza'), inChannel('general'), topic))).toEqual(pick(fixture, 0, 1));
      expect(await find(fixture, own(search('pizza'), topic))).toEqual(pick(fixture, 0, 1));
      expect(await find(fixture, own(search('pizza'), byB))).toEqual(pick(fixture, 1));
      expect(await find(fixture, own(search('lunch'), { kind: 'direct' }))).toEqual(pick(fixture, 3));
      expect(await find(fixture, own(search('lunch'), not({ kind: 'direct' })))).toEqual(pick(fixture, 0, 1));
      expect(await find(fixture, own(search('lunch'), unread))).toEqual(pick(fixture, 1, 3));
      expect(await find(fixture, own(not(search('pizza')), inChannel('general')))).toEqual([]);
      expect(await find(fixture, own(not(search('pizza'))))).toEqual(pick(fixture, 3, 4));
      expect(await find(fixture, own({ kind: 'anyOf', conditions: [search('oven'), byB] }))).toEqual(
        pick(fixture, 1, 2, 3),
      );
      expect(await find(fixture, own(search('pizza')), 'b')).toEqual(pick(fixture, 0, 1));
      expect(await find(fixture, shared(search('pizza'), inChannel('random')), 'b')).toEqual(pick(fixture, 2));
      expect(
        await find(fixture, shared(search('pizza'), { kind: 'channelPrivacy', privacies: ['public'] }), 'c'),
      ).toEqual(pick(fixture, 0, 1, 2));
    });

    it('isolates realms', async () => {
      const fixture = await stage(...said);
      const { uow, viewer } = fixture;
      const other = await anotherRealm(
        fixture,
        aUser({ name: 'z' }),
        aChannel({ name: 'far', subscribers: ['z'] }),
        aMessage({ from: 'z', to: 'far', content: 'pizza' }),
      );
      await uow.readAcross(async ({ pages }) => {
        const foundBy = async (who: Viewer) => idsOf(await pages.listEntriesUpTo(who, own(search('pizza')), null, 100));
        expect(await foundBy(viewer('a'))).toEqual(pick(fixture, 0, 1, 2));
        expect(await foundBy(other.viewer('z'))).toEqual(idsOf(other.messages));
      });
    });

    it('finds messages written in one transaction and in transactions committed together', async () => {
      const fixture = await stage(...said);
      const { uow, realm, viewer, clock } = fixture;
      const say = (tx: Transaction, content: string) =>
        aMessage({ from: 'a', to: 'general', topic: 'batch', content })(fixture, tx);
      const foundIn = async ({ pages }: Transaction, word: string) =>
        idsOf(await pages.listEntriesUpTo(viewer('a'), own(search(word)), null, 100));
      const newest = () => fixture.messages.at(-1)!.id;
      const text = { hasLink: false, hasImage: false, hasAttachment: false, mentionsChannel: false };
      const edit = (tx: Transaction, content: string) =>
        tx.messages.edit(realm.id, newest(), {
          ...fixture.messages.at(-1)!,
          ...text,
          content,
          renderedContent: `<p>${content}</p>`,
          editedAt: clock.now(),
          exceptions: new Map(),
        });
      const givenUp = new Error('given up');
      const results = await Promise.allSettled([
        uow.write(realm.id, async (tx) => {
          await say(tx, 'apple'); // 5
          expect(await foundIn(tx, 'apple')).toEqual([newest()]);
          await say(tx, 'banana'); // 6
        }),
        uow.write(fixture.realm.id, async (tx) => {
          await say(tx, 'cherry'); // rolled back; its number is reused
          expect(await foundIn(tx, 'cherry')).toEqual([newest()]);
          fixture.messages.pop();
          throw givenUp;
        }),
        uow.write(realm.id, async (tx) => {
          await say(tx, 'damson'); // 7
          await edit(tx, 'elderberry');
        }),
        uow.write(realm.id, async (tx) => {
          expect(await foundIn(tx, 'elderberry')).toEqual([newest()]);
          await say(tx, 'fig'); // 8
          await tx.messages.remove(realm.id, [newest()]);
        }),
      ]);
      expect(results.map((result) => ('reason' in result ? result.reason : null))).toEqual([null, givenUp, null, null]);
      expect(await find(fixture, own(search('apple')))).toEqual(pick(fixture, 5));
      expect(await find(fixture, own(search('banana')))).toEqual(pick(fixture, 6));
      expect(await find(fixture, own(search('elderberry')))).toEqual(pick(fixture, 7));
      for (const word of ['cherry', 'damson', 'fig']) expect(await find(fixture, own(search(word)))).toEqual([]);
      await uow.write(realm.id, (tx) => tx.messages.remove(realm.id, pick(fixture, 6)));
      expect(await find(fixture, own(search('banana')))).toEqual([]);
    });

    it('reflects moves and deletions and ignores rolled back ones', async () => {
      const fixture = await stage(...said);
      const { uow, realm, channel } = fixture;
      const target = (topic: string | null) => ({
        channelId: channel('random').id,
        recipientId: channel('random').recipientId,
        topic,
        isHistoryProtected: false,
      });
      const inRandom: MessageCondition = { kind: 'recipient', recipientIds: [channel('random').recipientId] };
      await uow.write(realm.id, (tx) => tx.moves.move(realm.id, pick(fixture, 0), target('Dinner')));
      expect(await find(fixture, own(search('lunch')))).toEqual(pick(fixture, 1, 3));
      expect(await find(fixture, own(search('dinner')))).toEqual(pick(fixture, 0));
      expect(await find(fixture, own(search('pizza'), inRandom))).toEqual(pick(fixture, 0, 2));
      await uow.write(realm.id, (tx) => tx.moves.move(realm.id, pick(fixture, 1), target(null)));
      expect(await find(fixture, own(search('lunch'), inRandom))).toEqual(pick(fixture, 1));
      await uow.write(realm.id, (tx) => tx.messages.remove(realm.id, pick(fixture, 1)));
      expect(await find(fixture, own(search('lunch')))).toEqual(pick(fixture, 3));
      const failing = uow.write(realm.id, async (tx) => {
        await tx.messages.remove(realm.id, pick(fixture, 3));
        throw new Error('given up');
      });
      await expect(failing).rejects.toThrow('given up');
      expect(await find(fixture, own(search('lunch')))).toEqual(pick(fixture, 3));
    });

    it('finds messages by names of mentioned users', async () => {
      const fixture = await stage(...said);
      const { user } = fixture;
      const mention = (name: string, silent = '') =>
        `<span class="user-mention${silent}" data-user-id="${user(name).id}">@${name}</span>`;
      await fixture.add(aMessage({ from: 'a', to: 'general', content: mention('b') })); // 5
      await fixture.add(aMessage({ from: 'a', to: 'general', content: mention('b', ' silent') })); // 6
      await fixture.add(aMessage({ from: 'a', to: 'general', content: mention('c') })); // 7
      const mentions = (name: string): MessageCondition => ({ kind: 'mentions', userId: user(name).id });
      expect(await find(fixture, own(mentions('b')))).toEqual(pick(fixture, 5));
      expect(await find(fixture, own(mentions('b'), mentions('c')))).toEqual([]);
      expect(await find(fixture, own(not(mentions('b')), { kind: 'sender', userId: user('a').id }))).toEqual(
        pick(fixture, 0, 2, 6, 7),
      );
    });

    it('finds everything after an index rebuild with concurrent writes', async () => {
      const fixture = await stage(...said);
      const { uow, realm } = fixture;
      await uow.writeAcross(({ searchIndex }) => searchIndex.reset());
      await fixture.add(aMessage({ from: 'a', to: 'general', topic: 'later', content: 'pizza' })); // 5
      await uow.write(realm.id, (tx) => tx.messages.remove(realm.id, pick(fixture, 1)));
      while (await uow.writeAcross(({ searchIndex }) => searchIndex.indexSome(2)));
      expect(await uow.readAcross(({ searchIndex }) => searchIndex.unindexedUpTo(null))).toBe(0);
      expect(await find(fixture, own(search('pizza')))).toEqual(pick(fixture, 0, 2, 5));
      await uow.write(realm.id, (tx) => tx.messages.remove(realm.id, pick(fixture, 0)));
      expect(await find(fixture, own(search('pizza')))).toEqual(pick(fixture, 2, 5));
    });

    it('keeps the terms of all messages while one realm is indexed again', async () => {
      const fixture = await stage(...said);
      const { uow, realm } = fixture;
      const other = (await anotherRealm(fixture)).realm;
      const pendingIn = (realmId: RealmId | null) =>
        uow.readAcross(({ searchIndex }) => searchIndex.unindexedUpTo(realmId));
      await uow.write(realm.id, (tx) => tx.searchIndex.indexAgain(realm.id));
      await uow.write(other.id, (tx) => tx.searchIndex.indexAgain(other.id));
      while (await uow.writeAcross(({ searchIndex }) => searchIndex.indexSome(2))) {
        expect(await find(fixture, own(search('pizza')))).toEqual(pick(fixture, 0, 1, 2));
      }
      expect([await pendingIn(realm.id), await pendingIn(other.id), await pendingIn(null)]).toEqual([0, 0, 0]);
      expect(await find(fixture, own(search('lunch')))).toEqual(pick(fixture, 0, 1, 3));
    });
  });
}
