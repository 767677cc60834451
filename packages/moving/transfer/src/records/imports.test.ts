import { newAccess } from './access.js';
import { beginningOf, literal, markdownOf, type ReferenceTexts } from './imported-text.js';
import { ImportLedger } from './ledger.js';
import { firstWords, threadTopic, topicOf, UniqueNames } from './names.js';
import { matchPeople } from './people.js';

describe('ImportLedger', () => {
  const person = (id: string) => ({ kind: 'person', id }) as const;

  it('counts records by kind, outcome and reason', () => {
    const ledger = new ImportLedger();
    for (const id of ['a', 'b', 'c'])
      ledger.account(ledger.read(), person(id), id === 'c' ? 'dropped' : 'imported', 'x');
    expect(ledger.report()).toEqual([
      { kind: 'person', outcome: 'imported', reason: 'x', count: 2, examples: ['a', 'b'] },
      { kind: 'person', outcome: 'dropped', reason: 'x', count: 1, examples: ['c'] },
    ]);
    expect(ledger.unaccounted).toBe(0);
  });

  it('reports unaccounted records and rejects a second account of a record', () => {
    const ledger = new ImportLedger();
    const [first] = [ledger.read(), ledger.read()];
    ledger.account(first!, person('a'), 'imported');
    expect(ledger.unaccounted).toBe(1);
    expect(() => ledger.account(first!, person('a'), 'dropped')).toThrow('twice');
  });

  it('limits the number of lines without losing records', () => {
    const ledger = new ImportLedger();
    for (let number = 0; number < 2000; number++) {
      ledger.account(ledger.read(), person(String(number)), 'dropped', `reason ${number}`);
    }
    const lines = ledger.report();
    expect(lines.length).toBeLessThan(510);
    expect(lines.reduce((sum, { count }) => sum + count, 0)).toBe(2000);
  });
});

describe('names', () => {
  it.each`
    text                                          | topic
    ${'**Hello** _world_'}                        | ${'Hello _world_'}
    ${'[the docs](https://x.example/y) are gone'} | ${'the docs are gone'}
    ${'@_**Ann Lee|12** please look'}             | ${'@Ann Lee please look'}
    ${'> quoted\nanswer'}                         | ${'quoted answer'}
    ${'```js\nlet a;\n```'}                       | ${'let a;'}
    ${'general chat'}                             | ${''}
    ${'\u0000\u0007'}                             | ${''}
    ${'word '.repeat(30)}                         | ${`${'word '.repeat(10)}word…`}
  `('firstWords makes the topic $topic of a text', ({ text, topic }) => {
    expect(firstWords(text)).toBe(topic);
  });

  it('topicOf replaces characters that topics may not contain', () => {
    expect(topicOf(' a\nb\u0007c ')).toBe('a b c');
  });

  it('threadTopic adds the date and then a number', () => {
    expect([1, 2, 3].map((count) => threadTopic('Lunch', '2024-05-03', count))).toEqual([
      'Lunch',
      'Lunch (2024-05-03)',
      'Lunch (2024-05-03, 2)',
    ]);
    expect(threadTopic('', '2024-05-03', 1)).toBe('Thread 2024-05-03');
    expect(threadTopic('x'.repeat(60), '2024-05-03', 12).length).toBe(60);
  });

  it('UniqueNames keeps names different regardless of letter case and within the length', () => {
    const names = new UniqueNames(6);
    expect([names.take('general'), names.take('GENER…'), names.take('b')]).toEqual(['gener…', 'G… (2)', 'b']);
  });
});

describe('imported texts', () => {
  const nothing: ReferenceTexts = {
    person: () => null,
    group: () => null,
    channel: () => null,
    message: () => null,
    file: () => null,
  };

  it('markdownOf joins parts and names missing references literally', () => {
    const parts = [
      'Hi **',
      { mention: 'person', id: 'x', name: '**all**' },
      '** ',
      { mention: 'everyone' },
      { link: 'message', id: 'm', label: 'there', url: 'https://old.example/p1' },
    ] as const;
    expect(markdownOf(parts, nothing)).toBe('Hi **@&#42;&#42;all&#42;&#42;** @_**all**[there](https://old.example/p1)');
  });

  it('beginningOf closes open fences before the note', () => {
    const text = `intro\n\`\`\`js\n${'let a = 1;\n'.repeat(2000)}\`\`\`\nend`;
    const beginning = beginningOf(text, 'NOTE');
    expect(beginning.length).toBeLessThan(10_000);
    expect(beginning).toMatch(/let a = 1;\n```\n\nNOTE$/);
  });

  it('literal escapes Markdown and line breaks', () => {
    expect(literal('a **b**\nc')).toBe('a &#42;&#42;b&#42;&#42; c');
  });
});

describe('matchPeople', () => {
  const ann = { id: 'U1', userName: 'ann', email: 'ann@old.example', isEmailVerified: true };
  const bob = { id: 'U2', userName: 'U1', email: 'bob@old.example' };

  it('prefers the mapping file, by id before names that people choose', () => {
    const { people } = matchPeople([bob, ann], [{ person: 'U1', email: 'ann@new.example', name: null }]);
    expect(people.get('U1')).toEqual({ match: 'mapping file', email: 'ann@new.example', name: null });
    expect(people.get('U2')).toMatchObject({ match: 'placeholder', email: null });
  });

  it.each`
    person                        | match               | email
    ${{}}                         | ${'verified email'} | ${'ann@old.example'}
    ${{ isEmailVerified: false }} | ${'placeholder'}    | ${null}
    ${{ email: 'ann' }}           | ${'placeholder'}    | ${null}
    ${{ isBot: true }}            | ${'bot'}            | ${null}
  `('gives $match to a person with $person', ({ person, match, email }) => {
    expect(matchPeople([{ ...ann, ...person }], []).people.get('U1')).toMatchObject({ match, email });
  });

  it('reports mappings that match nobody or several people', () => {
    const mappings = [
      { person: 'nobody', email: 'n@new.example', name: null },
      { person: 'ANN', email: 'a@new.example', name: null },
    ];
    const { unusedMappings } = matchPeople([ann, { ...ann, id: 'U3' }], mappings);
    expect(unusedMappings).toEqual(mappings);
  });
});

describe('newAccess', () => {
  const readers = (isOpen: boolean, ...ids: number[]) => ({ isOpen, readers: new Set(ids) });
  const access = (members: number[], conversations: Record<string, ReturnType<typeof readers>>) => ({
    fullMembers: new Set(members),
    conversations: new Map(Object.entries(conversations)),
  });
  const before = access([1, 2], { open: readers(true), closed: readers(false, 1, 3) });

  it.each`
    after                                          | added
    ${access([1, 2], { open: readers(true) })}     | ${[]}
    ${access([1], { closed: readers(false, 3) })}  | ${[]}
    ${access([1], { open: readers(false, 1, 2) })} | ${[]}
    ${access([], { open: readers(true, 3) })}      | ${['open 3']}
    ${access([3], { open: readers(true) })}        | ${['open 3']}
    ${access([], { closed: readers(false, 2) })}   | ${['closed 2']}
    ${access([1, 2], { closed: readers(true) })}   | ${['closed 2']}
    ${access([], { unknown: readers(false, 1) })}  | ${['unknown 1']}
  `('finds $added', ({ after, added }) => {
    const found = newAccess(before, after).map(({ conversation, person }) => `${conversation} ${person}`);
    expect(found).toEqual(added);
  });
});
