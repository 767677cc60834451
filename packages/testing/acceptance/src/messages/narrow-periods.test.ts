import { expectRefusal, fieldsOf, type Wire } from '../testing/expectations.js';
import { serverPerSuite } from '../testing/servers.js';

/** Message ids: two days before, one day before, and on the day at 23:30 UTC. */
let ids: readonly [number, number, number];
const DAY = 86_400;

const { server } = serverPerSuite();
beforeAll(async () => {
  const { hamlet } = server.people;
  await server.createChannel('general', [hamlet]);
  server.clock.advance(at('2026-11-23T23:30:00Z') - server.clock.now());
  const first = await send();
  server.clock.advance(DAY);
  const second = await send();
  server.clock.advance(DAY);
  ids = [first, second, await send()];
});

const at = (text: string): number => Date.parse(text) / 1000;
const send = () => server.sendMessage(server.people.hamlet, 'general', { topic: 'days', content: 'hello' });
const get = (narrow: readonly unknown[], range: object = { anchor: 'newest', num_before: 10, num_after: 0 }) =>
  server.get('/messages', server.people.hamlet, { narrow: [['topic', 'days'], ...narrow], ...range });
const found = async (...args: Parameters<typeof get>): Promise<readonly number[]> =>
  ((fieldsOf(await get(...args)) as Wire).messages as readonly Wire[]).map(({ id }) => id as number);

describe('before, after and during (extensions §9)', () => {
  it.each<[string, readonly unknown[], readonly number[]]>([
    ['before a day', [['before', '2026-11-24']], [0]],
    ['after a day', [['after', '2026-11-24']], [2]],
    ['during a day', [['during', '2026-11-24']], [1]],
    ['during a month', [['during', '2026-11']], [0, 1, 2]],
    ['after a month', [['after', '2026-11']], []],
    ['before a year', [['before', '2026']], []],
    ['outside a day', [{ operator: 'during', operand: '2026-11-24', negated: true }], [0, 2]],
    ['not before a day', [{ operator: 'before', operand: '2026-11-24', negated: true }], [1, 2]],
    [
      'between two days',
      [
        ['after', '2026-11-23'],
        ['before', '2026-11-25'],
      ],
      [1],
    ],
    [
      'in no day',
      [
        ['after', '2026-11-25'],
        ['before', '2026-11-24'],
      ],
      [],
    ],
    [
      'with a word',
      [
        ['search', 'hello'],
        ['during', '2026-11-25'],
      ],
      [2],
    ],
    [
      'of days to come',
      [
        ['before', '2027'],
        ['search', 'hello'],
      ],
      [0, 1, 2],
    ],
  ])('finds messages %s', async (_, narrow, expected) => {
    const wanted = expected.map((index) => ids[index]!);
    expect(await found(narrow)).toEqual(wanted);
    expect(await found(narrow, { anchor: 'oldest', num_before: 0, num_after: 10 })).toEqual(wanted);
    expect(await found(narrow, { message_ids: ids })).toEqual(wanted);
    const matches = await server.get('/messages/matches_narrow', server.people.hamlet, { narrow, msg_ids: ids });
    expect(Object.keys((fieldsOf(matches) as Wire).messages as object).map(Number)).toEqual(wanted);
  });

  it('uses the time zone of the user', async () => {
    const { hamlet } = server.people;
    fieldsOf(await server.patch('/settings', hamlet, { timezone: 'Europe/Berlin' }));
    expect(await found([['during', '2026-11-24']])).toEqual([ids[0]]);
  });

  it('rejects other dates', async () => {
    for (const operand of ['yesterday', '2026-02-30', '26', '']) {
      const desc = `invalid date ${operand}`;
      expectRefusal(await get([['after', operand]]), `Invalid narrow operator: ${desc}`, { code: 'BAD_NARROW', desc });
    }
  });
});
