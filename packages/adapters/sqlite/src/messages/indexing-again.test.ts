import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SearchTexts } from '@parley/domain/markdown';
import { IndexMessages, PLAIN_TEXTS, parseSearch } from '@parley/domain/messages';
import { aChannel, aMessage, aUser, createFixtureOn, FixedClock } from '@parley/testkit';
import Sqlite from 'better-sqlite3';
import { MIGRATIONS } from '../features.js';
import { openSqliteStorage } from '../index.js';

/** Adds beginnings of words to the terms, as a new release might; queries contain the former terms too. */
const NEW_WORDS: SearchTexts = {
  ...PLAIN_TEXTS,
  searchTerms: (text) => PLAIN_TEXTS.searchTerms(text).flatMap((term) => [term, `${term.slice(0, 3)}…`]),
  searchedWords: (text) => PLAIN_TEXTS.searchTerms(text).map((term) => [[`${term}…`, term]]),
  inLanguages: () => NEW_WORDS,
};

const directory = mkdtempSync(join(tmpdir(), 'parley-indexing-'));
afterAll(() => rmSync(directory, { recursive: true }));

it('messages stay findable while they get the terms of a new release, newest first', async () => {
  const path = join(directory, 'parley.db');
  const clock = new FixedClock();
  const former = openSqliteStorage({ path, clock });
  const { realm, messages, viewer } = await createFixtureOn(
    former.uow,
    clock,
    aUser({ name: 'ann' }),
    aChannel({ name: 'general', subscribers: ['ann'] }),
    ...Array.from({ length: 120 }, () => aMessage({ from: 'ann', to: 'general', content: 'lunches' })),
  );
  const wordsBefore = { kind: 'search', ...parseSearch(PLAIN_TEXTS, 'lunches')! } as const;
  await former.uow.read(realm.id, ({ pages }) =>
    pages.listEntriesUpTo(viewer('ann'), { conditions: [wordsBefore], scope: 'own' }, null, 1),
  );
  await former.close();
  const database = new Sqlite(path);
  database.exec(MIGRATIONS.find(({ name }) => name === 'messages.023')!.sql);
  database.close();

  const { uow, close } = openSqliteStorage({ path, clock, words: NEW_WORDS });
  const ids = messages.map(({ id }) => id);
  const find = (text: string) =>
    uow.read(realm.id, async ({ pages }) => {
      const search = { kind: 'search', ...parseSearch(NEW_WORDS, text)! } as const;
      const found = await pages.listEntriesUpTo(viewer('ann'), { conditions: [search], scope: 'own' }, null, 1000);
      return found.map(({ id }) => id);
    });
  const foundByNewTerms: number[] = [];
  const index = new IndexMessages(uow);
  for (let isPending = true; isPending; isPending = await index.execute()) {
    expect(await find('lunches')).toEqual(ids);
    const found = await find('lun');
    expect(found).toEqual(ids.slice(ids.length - found.length));
    foundByNewTerms.push(found.length);
  }
  expect(foundByNewTerms).toEqual([0, 50, 100]);
  expect(await find('lun')).toEqual(ids);
  expect(await uow.readAcross(({ searchIndex }) => searchIndex.unindexedUpTo(null))).toBe(0);
  await close();
});
