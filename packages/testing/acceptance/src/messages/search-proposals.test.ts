import type { MessageId } from '@parley/domain/kernel';
import { fieldsOf, type Wire } from '../testing/expectations.js';
import { TestServer, type TestUser } from '../testing/test-server.js';

const newest = { anchor: 'newest', num_before: 20, num_after: 0 };

const READABLE = [
  'The deployment failed again',
  'Next deployment on Monday',
  'Our deploiment script is old',
  'Die Schlüssel liegen im Büro',
  'Ask the accommodation office about the configuration',
  'the cost of lunch',
];

const send = (server: TestServer, as: TestUser, to: string, content: string) =>
  server.sendMessage(as, to, { topic: 'news', content });

async function start(): Promise<TestServer> {
  const server = await TestServer.start();
  const { hamlet, cordelia, desdemona } = server.people;
  await server.createChannel('general', [hamlet, cordelia]);
  await server.createChannel('open', [desdemona]);
  await server.createChannel('vault', [desdemona], { invite_only: true });
  for (const content of READABLE) await send(server, cordelia, 'general', content);
  await send(server, desdemona, 'open', 'the harbour of Elsinore');
  return server;
}

const search = (server: TestServer, ...narrow: readonly unknown[]) =>
  server.get('/messages', server.people.hamlet, { narrow, ...newest });

/** Messages in a private channel that contain the searched words in one of the two worlds. */
const UNREADABLE = 100;
/** Searches per word, alternating between both worlds. */
const PAIRS = 20;

async function timeOf(run: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await run();
  return performance.now() - start;
}

describe('search_proposal (extensions §9)', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await start();
  });
  afterAll(() => server.close());

  const proposalFor = async (...narrow: readonly unknown[]) =>
    (fieldsOf(await search(server, ...narrow)) as Wire).search_proposal as string | undefined;

  it.each([
    ['deploymant', 'deployment'],
    ['failed deplyoment', 'failed deployment'],
    ['DEPLOYMNT failed', 'deployment failed'],
    ['Schlusel', 'schlüssel'],
    ['Schlüsel liegen', 'schlüssel liegen'],
    ['acomodation', 'accommodation'],
    ['configuartoin', 'configuration'],
    ['costt lunhc', 'cost lunch'],
  ])('corrects %s to %s', async (text, proposal) => {
    expect(await proposalFor(['search', text])).toBe(proposal);
    expect((fieldsOf(await search(server, ['search', proposal])) as Wire).messages).not.toEqual([]);
  });

  it.each([
    ['of words that are found, but not together', ['search', 'lunch schlüssel']],
    ['of unfinished words', ['search', 'deplo lunch']],
    ['of words with fewer than four letters', ['search', 'cpt']],
    ['of words unlike any other', ['search', 'deploymant xylophone']],
    ['for exclusions', { operator: 'search', operand: 'deploymant', negated: true }],
    ['of words of other conversations', ['search', 'habour']],
  ])('proposes nothing instead %s', async (_, term) => {
    expect(await proposalFor(term)).toBeUndefined();
  });

  it('proposes words of the history that the narrow opens, unless other messages contain the word', async () => {
    expect(await proposalFor(['channel', 'open'], ['search', 'habour'])).toBe('harbour');
    expect(await proposalFor(['channel', 'open'], ['search', 'lunch'])).toBeUndefined();
  });

  it('is absent from searches that find something and from pages by id', async () => {
    expect(await proposalFor(['search', 'deployment'])).toBeUndefined();
    const byId = { narrow: [['search', 'deploymant']], message_ids: [1, 2, 3] };
    expect(fieldsOf(await server.get('/messages', server.people.hamlet, byId))).not.toHaveProperty('search_proposal');
  });

  it('returns the same bytes whatever unreadable messages contain', async () => {
    const other = await start();
    try {
      const { desdemona } = other.people;
      const words = [
        'deploymant',
        'deploymants',
        'deplyoment',
        'schlusel',
        'costtt',
        'habour',
        'accomodation',
        'lunhc',
      ];
      for (const word of words) await send(other, desdemona, 'vault', `${word} ${word}s`);
      for (const text of [...words, 'costt', 'acomodation', 'xylophone', 'vaultt', 'failed deplyoment']) {
        const [here, there] = [await search(server, ['search', text]), await search(other, ['search', text])];
        expect(JSON.stringify(there.body)).toBe(JSON.stringify(here.body));
      }
    } finally {
      await other.close();
    }
  });

  it('takes nearly the same time whatever unreadable messages contain', async () => {
    const other = await start();
    try {
      const { desdemona } = other.people;
      for (let i = 0; i < UNREADABLE; i++) await send(other, desdemona, 'vault', 'deploymant deployments habour lunhc');
      // The same number of messages, so that only their words differ.
      for (let i = 0; i < UNREADABLE; i++) await send(server, server.people.desdemona, 'vault', 'a far longer message');
      for (const text of ['deploymant', 'habour', 'lunhc']) {
        const ratios: number[] = [];
        for (let i = 0; i < PAIRS; i++) {
          const pair = i % 2 === 0 ? [server, other] : [other, server];
          const times = new Map<TestServer, number>();
          for (const each of pair) times.set(each, await timeOf(() => search(each, ['search', text])));
          ratios.push(times.get(other)! / times.get(server)!);
        }
        ratios.sort((a, b) => a - b);
        // The distributions overlap, and few hits are examined before the search is limited to readable conversations.
        expect(ratios[PAIRS / 10]).toBeLessThan(1.25);
        expect(ratios[PAIRS / 2]).toBeLessThan(1.5);
      }
    } finally {
      await other.close();
    }
  });

  it('takes the same CPU time for a word of 4,500 unreadable messages and for an absent word', async () => {
    const { hamlet, cordelia, desdemona } = server.people;
    for (let i = 0; i < 60; i++) await server.createChannel(`channel ${i}`, [hamlet, cordelia]);
    const { uow } = server.storage;
    const templateFor = async (author: TestUser, channel: string, content: string) => {
      const id = (await send(server, author, channel, 'first')) as MessageId;
      const [first] = await uow.read(server.realmId, ({ messages }) => messages.list(server.realmId, [id]));
      return { ...first!, content, renderedContent: `<p>${content}</p>`, readBy: [], exceptions: new Map() };
    };
    const unreadable = await templateFor(desdemona, 'vault', 'xylophones');
    const readable = await templateFor(cordelia, 'channel 1', 'ordinary words');
    await uow.write(server.realmId, async ({ messages }) => {
      // Conversations take turns of ten messages.
      for (let i = 0; i < 9000; i++) await messages.append(i % 20 < 10 ? unreadable : readable);
    });
    const cpuOf = async (word: string) => {
      const before = process.cpuUsage();
      await search(server, ['search', word]);
      const { user, system } = process.cpuUsage(before);
      return user + system;
    };
    const ratios: number[] = [];
    for (let i = 0; i < 2 * PAIRS; i++) {
      const words = i % 2 === 0 ? ['xylophone', 'saxophone'] : ['saxophone', 'xylophone'];
      const times = new Map<string, number>();
      for (const word of words) times.set(word, await cpuOf(word));
      ratios.push(times.get('xylophone')! / times.get('saxophone')!);
    }
    ratios.sort((a, b) => a - b);
    expect(ratios[PAIRS]).toBeLessThan(1.15);
  });
});
